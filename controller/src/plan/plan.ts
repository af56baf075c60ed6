import {
  agentFindings,
  atOnce,
  contentHash,
  createResolveMemo,
  isName,
  type Operator,
  type Problem,
  type ResolveMemo,
  resolving,
  shortHash,
  type Source,
  standingOf,
  type Turns,
} from '@signalbox/crds';
import { type CustomObject, definitionName, describe } from '../objects/custom-object.ts';
import { claimNames } from './claim-names.ts';
import { type Body, definitionOf, type DefinitionText, type WrittenDefinition } from './definition-text.ts';
import { conflict, judge, type Judgement } from './judgement.ts';
import { gateState, isGated, isHeld, throughGate } from './readiness-gate.ts';

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
  /** Its name belongs to another object, or it may not have it, so none of its files may stay. */
  lostName: boolean;
  /** Agents that a pipeline calls and that nobody defines, where that is known. */
  undefinedAgents?: readonly string[];
}

/**
 * Judges a whole set of objects with the rules of the services. The older of two objects keeps a name, and an invalid
 * object is served with its last accepted body. Pure, and independent of the order. Pass the same memo to later calls to
 * check only what changed.
 */
export function plan(objects: readonly CustomObject[], operator: Operator | undefined, memo?: ResolveMemo): Verdict[] {
  return atOnce(planning(objects, { operator, memo: memo ?? createResolveMemo() }));
}

export interface Planning {
  operator: Operator | undefined;
  memo: ResolveMemo;
}

/** `plan` in parts, so that the event loop is not held up. */
export function* planning(objects: readonly CustomObject[], rules: Planning): Turns<Verdict[]> {
  const home = rules.operator?.tenancy?.home ?? null;
  const { owners, losers } = claimNames(objects, home);
  const resolved = yield* resolveOwners(owners, rules);
  const taken = new Set(owners.map((object) => `${object.kind} ${definitionName(object)}`));
  const verdicts = owners.map((object) => judged(object, resolved, { taken, rules }));
  const lost = losers.map(({ object, owner }): Verdict => ({
    ...conflict(definitionName(object), { object, owner }, home),
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
}

interface Resolved {
  sound: Map<string, Sound>;
  held: ReadonlySet<string>;
  problems: Map<string, Problem[]>;
}

const fileOf = (object: CustomObject): string => describe(object);

/** Steps are resolved first, so that pipelines get the last accepted body of a broken step. */
function* resolveOwners(owners: readonly CustomObject[], rules: Planning): Turns<Resolved> {
  const { operator, memo } = rules;
  const of = (kind: CustomObject['kind']) => owners.filter((object) => object.kind === kind);
  const held = new Set(owners.filter((object) => isGated(object) && isHeld(object, object.spec)).map(fileOf));
  const sources = (kind: CustomObject['kind']) => of(kind).map((object) => sourceOf(object, writtenOf(object, memo)));
  const agentsAndSteps = { pipelines: [], steps: sources('LibraryStep'), agents: sources('Agent'), operator };
  const first = yield* resolving(agentsAndSteps, memo);
  const soundSteps = new Set(first.steps.map(({ file }) => file));
  const steps = of('LibraryStep').map((object) => {
    const accepted = soundSteps.has(fileOf(object)) ? null : acceptedOf(object, memo);
    return sourceOf(object, accepted ?? writtenOf(object, memo));
  });
  const second = yield* resolving({ pipelines: sources('Pipeline'), steps, operator }, memo);
  const sound = new Map<string, Sound>();
  // The accepted body is the written one; the gate changes only what is served.
  for (const { file, name, body, hash } of [...first.steps, ...second.pipelines])
    sound.set(file, { name, body: held.has(file) ? { ...body, stage: 'production' } : body, hash });
  for (const { file, name, body, version, soul } of first.agents)
    sound.set(file, { name, body: { ...body, soul }, hash: version });
  const problems = [...first.problems, ...second.problems.filter(({ kind }) => kind === 'Pipeline')];
  return { sound, held, problems: Map.groupBy(problems, ({ file }) => file) };
}

function sourceOf(object: CustomObject, definition: WrittenDefinition): Source {
  const { value, soul } = definition;
  return {
    file: fileOf(object),
    namespace: object.namespace,
    value,
    ...(soul === undefined ? {} : { soul }),
    get text() {
      return definition.text;
    },
  };
}

interface Remembered extends WrittenDefinition {
  edition: string;
}

/** The same for every edition of a spec: what the memo knows of it stays known while only the status changes. */
function remember(key: string, edition: string, memo: ResolveMemo, make: () => WrittenDefinition): WrittenDefinition {
  const isCurrent = (known: Remembered) => known.edition === edition;
  return memo.recall(key, isCurrent, (): Remembered => Object.assign(make(), { edition }));
}

function writtenOf(object: CustomObject, memo: ResolveMemo): WrittenDefinition {
  const { uid, generation, kind } = object;
  return remember(`spec ${fileOf(object)}`, `${uid} ${generation} ${gateState(object)}`, memo, () =>
    definitionOf(kind, throughGate(object, { ...object.spec, name: definitionName(object) })),
  );
}

function acceptedOf(object: CustomObject, memo: ResolveMemo): WrittenDefinition | null {
  const { lastAccepted } = object.status;
  if (!lastAccepted || !isName(lastAccepted['name'])) return null;
  return remember(`accepted ${fileOf(object)}`, `${shortHash(lastAccepted)} ${gateState(object)}`, memo, () =>
    definitionOf(object.kind, throughGate(object, lastAccepted)),
  );
}

interface Judging {
  taken: ReadonlySet<string>;
  rules: Planning;
}

function judged(object: CustomObject, { sound, held, problems }: Resolved, { taken, rules }: Judging): Verdict {
  const file = fileOf(object);
  const passed = sound.get(file);
  const found = problems.get(file) ?? [];
  const lostName = !passed && mayNotHaveName(object, rules);
  const accepted = lostName ? null : lastAccepted(object, taken);
  const served = passed
    ? servedOf(writtenOf(object, rules.memo), {
        name: passed.name,
        hash: passed.hash,
        from: 'spec',
        held: held.has(file),
      })
    : accepted;
  const judgement = judge(found, passed !== undefined, served !== null);
  return { ...judgement, object, body: passed?.body ?? null, served, lostName };
}

/**
 * Of what would stay served. The api-server judges pipelines again; nothing behind this judges what an agent is called, which decides about
 * its tools. Not read from the problems: a spec that cannot be read, or takes too long to check, has none about its name.
 */
function mayNotHaveName(object: CustomObject, { operator }: Planning): boolean {
  const accepted = object.status.lastAccepted?.['name'];
  const name = isName(accepted) ? accepted : definitionName(object);
  const standing = standingOf(operator?.tenancy, object.namespace);
  return object.kind === 'Agent' && agentFindings({ name }, standing).length > 0;
}

function servedOf(definition: WrittenDefinition, about: Omit<Served, keyof DefinitionText>): Served {
  const { soul } = definition;
  return {
    ...about,
    ...(soul === undefined ? {} : { soul }),
    get text() {
      return definition.text;
    },
  };
}

/** The last accepted body, unless its name now belongs to another object. */
function lastAccepted(object: CustomObject, taken: ReadonlySet<string>): Served | null {
  const accepted = object.status.lastAccepted;
  const name = accepted?.['name'];
  if (!accepted || !isName(name)) return null;
  if (name !== definitionName(object) && taken.has(`${object.kind} ${name}`)) return null;
  const body = throughGate(object, accepted);
  const about = { name, hash: hashOf(object, body), from: 'lastAccepted', held: isHeld(object, accepted) } as const;
  return servedOf(definitionOf(object.kind, body), about);
}

function hashOf({ kind, status }: CustomObject, body: Body): string {
  const agentVersion = status['agentVersion'];
  return kind === 'Agent' && typeof agentVersion === 'string' ? agentVersion : contentHash(body);
}
