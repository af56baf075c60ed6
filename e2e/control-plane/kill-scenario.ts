import { manifest } from './objects.ts';
import { samplePipeline } from './kube-client.ts';

/**
 * Everything that can happen to objects, in one namespace each: made, changed, broken, deleted, and an Agent that gets pods,
 * whose pods change, and that gives them up. Names carry the place's number, as a definition's name is one in the cluster.
 */
export interface Place {
  namespace: string;
  /** As they are in the beginning. */
  first: string[];
  /** Applied over those. */
  then: string[];
  /** Of `first`; not there in the end. */
  gone: string;
  agents: { name: string; first: Agent | null; then: Agent }[];
  /** The text without what tells this place from another. */
  strip(text: string): string;
}
type Agent = Record<string, unknown>;

const inside: Agent = { model: 'demo/any', soul: 'Be brief.', runtime: { mode: 'process' } };
const withPods: Agent = { model: 'demo/any', soul: 'Be brief.', tools: ['metrics/query'] };
const STEP = { executor: 'gateway', agent: 'triage', prompt_template: 'Look at {{summary}}.' };

export function placeOf(number: number): Place {
  const namespace = `killed-${number}`;
  const named = (name: string) => `${name}-at-${number}`;
  const agents = [
    { name: named('moves-in'), first: withPods, then: inside },
    { name: named('changes'), first: withPods, then: { ...withPods, soul: 'Be very brief.' } },
    { name: named('arrives'), first: null, then: withPods },
  ];
  const pipeline = (name: string, description: string, change: object = {}) =>
    manifest('Pipeline', named(name), { ...samplePipeline(name).spec, description, ...change }, { namespace });
  const step = (description: string) => manifest('LibraryStep', named('read'), { ...STEP, description }, { namespace });
  const agent = (name: string, spec: Agent | null) => (spec ? [manifest('Agent', name, spec, { namespace })] : []);
  return {
    namespace,
    agents,
    gone: pipeline('goes', 'first'),
    first: [
      pipeline('edited', 'first'),
      pipeline('broken', 'first'),
      pipeline('goes', 'first'),
      ...agents.flatMap(({ name, first }) => agent(name, first)),
    ],
    then: [
      pipeline('edited', 'then'),
      pipeline('broken', 'then', { steps: [{ ...STEP, name: 'read', prompt_template: '{{#if}}' }] }),
      pipeline('new', 'then', { steps: [{ name: 'read', use: named('read') }] }),
      step('then'),
      ...agents.flatMap(({ name, then }) => agent(name, then)),
    ],
    strip: (text) => text.replaceAll(`-at-${number}`, '').replaceAll(namespace, 'namespace'),
  };
}
