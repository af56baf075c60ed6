import {
  contentHash,
  isName,
  type Operator,
  type Problem,
  type ResolveMemo,
  resolveSet,
  type Source,
} from '@signalbox/crds';
import { type CustomObject, definitionName, describe } from '../objects/custom-object.ts';
import { claimNames } from './claim-names.ts';
import { type Body, bodyText, type DefinitionText } from './definition-text.ts';
import { conflict, judge, type Judgement } from './judgement.ts';
import { isGated, isHeld, throughGate } from './readiness-gate.ts';

/** What the services should serve for an object. */
export interface Served extends DefinitionText {
  /** The name of the definition, safe as a file name. */
  name: string;
  /** Hash of the effective body; an agent's version. */
  hash: string;
  from: 'spec' | 'lastAccepted';
  /** The readiness gate keeps it at stage `testing`. */
  held: boolean;
}

/** The judgement of one object, and what is served for it. */
export interface Verdict extends Judgement {
  object: CustomObject;
  /** The accepted body, `use:` expanded, for `status.lastAccepted`; null where the spec is invalid. */
  body: Body | null;
  /** Null where there is nothing to serve; a present file may stay. */
  served: Served | null;
  /** Its name belongs to an older object, so none of its files may stay. */
  lostName: boolean;
  /** Agents that a pipeline calls and that nobody defines, where that is known. */
  undefinedAgents?: readonly string[];
}

/**
 * Judges a whole set of objects with the rules of the services. The older of two objects keeps a name, and an invalid
 * object is served with its last accepted body. Pure, and independent of the order.
 */
export function plan(objects: readonly CustomObject[], operator: Operator | undefined, memo?: ResolveMemo): Verdict[] {
  const { owners, losers } = claimNames(objects);
  const resolved = resolveOwners(owners, operator, memo);
  const taken = new Set(owners.map(({ kind, ...object }) => `${kind} ${definitionName(object)}`));
  const verdicts = owners.map((object) => verdictOf(object, resolved, taken));
  const lost = losers.map(({ object, owner }): Verdict => ({
    ...conflict(definitionName(object), object, owner),
    object,
    body: null,
    served: null,
    lostName: true,
  }));
  return [...verdicts, ...lost];
}

interface Sound {
  name: string;
  body: Body;
  hash: string;
  written: DefinitionText;
  held: boolean;
}

interface Resolved {
  sound: Map<string, Sound>;
  problems: Map<string, Problem[]>;
}

const fileOf = (object: CustomObject): string => describe(object);

/** Steps are resolved first, so that pipelines get the last accepted body of a broken step. */
function resolveOwners(
  owners: readonly CustomObject[],
  operator: Operator | undefined,
  memo: ResolveMemo | undefined,
): Resolved {
  const of = (kind: CustomObject['kind']) => owners.filter((object) => object.kind === kind);
  const texts = new Map(owners.map((object) => [fileOf(object), specText(object)]));
  const held = new Set(owners.filter((object) => isGated(object) && isHeld(object, object.spec)).map(fileOf));
  const sources = (kind: CustomObject['kind']) =>
    of(kind).map((object): Source => ({
      file: fileOf(object),
      namespace: object.namespace,
      text: '',
      ...texts.get(fileOf(object)),
    }));
  const first = resolveSet({ pipelines: [], steps: sources('LibraryStep'), agents: sources('Agent'), operator }, memo);
  const soundSteps = new Set(first.steps.map(({ file }) => file));
  const steps = of('LibraryStep').flatMap((object): Source[] => {
    const file = fileOf(object);
    const text = soundSteps.has(file) ? texts.get(file) : acceptedText(object);
    return text ? [{ file, ...text }] : [{ file, text: texts.get(file)?.text ?? '' }];
  });
  const second = resolveSet({ pipelines: sources('Pipeline'), steps, operator }, memo);
  const sound = new Map<string, Sound>();
  const add = (file: string, { body, ...rest }: Omit<Sound, 'written' | 'held'>) =>
    sound.set(file, {
      ...rest,
      written: texts.get(file) ?? { text: '' },
      held: held.has(file),
      // The accepted body is the written one; the gate changes only what is served.
      body: held.has(file) ? { ...body, stage: 'production' } : body,
    });
  for (const { file, name, body, hash } of [...first.steps, ...second.pipelines]) add(file, { name, body, hash });
  for (const { file, name, body, version, soul } of first.agents)
    add(file, { name, body: { ...body, soul }, hash: version });
  const problems = [...first.problems, ...second.problems.filter(({ kind }) => kind === 'Pipeline')];
  return { sound, problems: Map.groupBy(problems, ({ file }) => file) };
}

const specTexts = new WeakMap<CustomObject, DefinitionText>();

/** Formatted once for an object, which never changes. */
function specText(object: CustomObject): DefinitionText {
  const known = specTexts.get(object);
  if (known) return known;
  const text = bodyText(object.kind, throughGate(object, { ...object.spec, name: definitionName(object) }));
  specTexts.set(object, text);
  return text;
}

function acceptedText(object: CustomObject): DefinitionText | null {
  const { lastAccepted } = object.status;
  return lastAccepted && isName(lastAccepted['name']) ? bodyText(object.kind, throughGate(object, lastAccepted)) : null;
}

function verdictOf(object: CustomObject, { sound, problems }: Resolved, taken: ReadonlySet<string>): Verdict {
  const file = fileOf(object);
  const passed = sound.get(file);
  const served: Served | null = passed
    ? { ...passed.written, name: passed.name, hash: passed.hash, from: 'spec', held: passed.held }
    : lastAccepted(object, taken);
  const judgement = judge(problems.get(file) ?? [], passed !== undefined, served !== null);
  return { ...judgement, object, body: passed?.body ?? null, served, lostName: false };
}

/** The last accepted body, unless its name now belongs to another object. */
function lastAccepted(object: CustomObject, taken: ReadonlySet<string>): Served | null {
  const accepted = object.status.lastAccepted;
  const text = acceptedText(object);
  const name = accepted?.['name'];
  if (!text || !accepted || !isName(name)) return null;
  if (name !== definitionName(object) && taken.has(`${object.kind} ${name}`)) return null;
  const body = throughGate(object, accepted);
  return { ...text, name, hash: hashOf(object, body), from: 'lastAccepted', held: isHeld(object, accepted) };
}

function hashOf({ kind, status }: CustomObject, body: Body): string {
  const agentVersion = status['agentVersion'];
  return kind === 'Agent' && typeof agentVersion === 'string' ? agentVersion : contentHash(body);
}
