import { expect, test } from 'vitest';
import { resolveSet, type SetInput } from './resolve-set.ts';
import { createResolveMemo } from './resolve-memo.ts';
import type { TenancyRules } from './standing.ts';

const step = (more = '') => `steps: [{name: a, executor: gateway, agent: triage, prompt_template: hi${more}}]`;
const pipeline = (name: string, namespace: string | undefined, body = step()) => ({
  file: `${name}.yaml`,
  text: `name: ${name}\n${body}\n`,
  ...(namespace === undefined ? {} : { namespace }),
});
const tenancy = (more: Partial<TenancyRules> = {}): TenancyRules => ({
  open: false,
  namespaces: {},
  home: 'ops',
  ...more,
});
const resolve = (rules: TenancyRules, ...pipelines: SetInput['pipelines']) => {
  const { pipelines: sound, problems } = resolveSet({ pipelines, steps: [], operator: { tenancy: rules } });
  return {
    sound: sound.map(({ name }) => name),
    said: problems.map(({ severity, reason, loc, msg }) => [severity, reason, loc.join('.'), msg]),
    standings: sound.map(({ standing }) => standing),
  };
};

test.each<[string, Partial<TenancyRules>, string | undefined, boolean]>([
  ['a file of the operator', {}, undefined, true],
  ['the namespace of the release', {}, 'ops', true],
  ['another namespace', {}, 'shop', false],
  ['another namespace that is listed', { namespaces: { shop: {} } }, 'shop', true],
  ['another namespace of an open service', { open: true }, 'shop', true],
  ['a namespace like the release’s where the release’s is not known', { home: null }, 'ops', false],
  ['a file whose namespace is not known', { home: '' }, '', false],
  ['a namespace with the name of something that every object has', {}, 'constructor', false],
])('%s: whether alerts start it', (_what, rules, namespace, admitted) => {
  const { sound, said, standings } = resolve(tenancy(rules), pipeline('p', namespace));
  expect(sound).toEqual(['p']);
  expect(standings[0]?.admitted).toBe(admitted);
  const warning = `no alert and no schedule starts it: namespace "${namespace}" is not listed in tenancy.namespaces`;
  expect(said).toEqual(admitted ? [] : [['warning', 'not_allowed', '', warning]]);
});

test('without rules nothing is restricted', () => {
  const [found] = resolveSet({ pipelines: [pipeline('p', 'shop')], steps: [] }).pipelines;
  expect(found?.standing).toEqual({ namespace: null, admitted: true, tenant: null });
});

test.each([
  ['an agent', step()],
  ['a branch', `steps: [{name: g, parallel: {join: all_must_pass, ${step()}}}]`],
  ['a backend of another kind', step().replace('gateway', 'external')],
  ['a verifier', step(', verifier: {agent: triage}').replace('agent: triage,', 'agent: own-one,')],
  [
    'a judge of another backend',
    step(', grounding: {agent: triage, executor: external}').replace('agent: triage,', 'agent: own-one,'),
  ],
])('%s that the namespace may not use is an error of the pipeline, by its place', (_what, body) => {
  const { sound, said } = resolve(
    tenancy({ namespaces: { shop: { agents: ['own-*'] } } }),
    pipeline('p', 'shop', body),
  );
  expect(sound).toEqual([]);
  expect(said).toHaveLength(1);
  expect(said[0]?.[0]).toBe('error');
  expect(said[0]?.[2]).toMatch(/agent$/);
  expect(said[0]?.[3]).toBe('namespace "shop" may not use the agent "triage" (tenancy.namespaces)');
});

test.each([
  [['triage'], ['p']],
  [['tri*'], ['p']],
  [['*'], ['p']],
  [['triag'], []],
  [['triage-2'], []],
  [[], []],
])('of the agents %j', (agents, sound) => {
  expect(resolve(tenancy({ namespaces: { shop: { agents } } }), pipeline('p', 'shop')).sound).toEqual(sound);
});

test('an agent out of a library step counts like the pipeline’s own', () => {
  const { pipelines } = resolveSet({
    pipelines: [pipeline('p', 'shop', 'steps: [{name: a, use: shared}]')],
    steps: [
      { file: 's.yaml', text: 'name: shared\nexecutor: gateway\nagent: triage\nprompt_template: hi', namespace: 'ops' },
    ],
    operator: { tenancy: tenancy({ namespaces: { shop: { agents: ['other'] } } }) },
  });
  expect(pipelines).toEqual([]);
});

const calling = (to: string) => `steps: [{name: c, executor: pipeline, pipeline: ${to}}]`;
test.each([
  ['its own', 'shop', true],
  ['the release’s', 'ops', false],
  ['another tenant’s', 'bank', false],
  ['a file', undefined, false],
])('a tenant starts %s pipelines', (_what, namespace, may) => {
  const rules = tenancy({ namespaces: { shop: {}, bank: {} } });
  const { sound, said } = resolve(rules, pipeline('p', 'shop', calling('q')), pipeline('q', namespace));
  expect(sound).toEqual(may ? ['p', 'q'] : ['q']);
  expect(said.map(([, reason]) => reason)).toEqual(may ? [] : ['not_allowed']);
});

test('the release’s own pipelines start those of tenants', () => {
  const rules = tenancy({ namespaces: { shop: {} } });
  expect(resolve(rules, pipeline('p', 'ops', calling('q')), pipeline('q', 'shop')).sound).toEqual(['p', 'q']);
});

test('a definition that moves to another namespace is judged again, though its text is the same', () => {
  const memo = createResolveMemo();
  const operator = { tenancy: tenancy({ namespaces: { shop: { agents: [] }, bank: {} } }) };
  const names = (namespace: string) =>
    resolveSet({ pipelines: [pipeline('p', namespace)], steps: [], operator }, memo).pipelines.map(({ name }) => name);
  expect([names('bank'), names('shop'), names('bank')]).toEqual([['p'], [], ['p']]);
});
