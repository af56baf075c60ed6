import {
  agentFindings,
  atOnce,
  createResolveMemo,
  type Operator,
  type Problem,
  type ResolveMemo,
  type ResolvedAgent,
  type ResolvedPipeline,
  type ResolvedStep,
  resolving,
  shortHash,
  type Source,
  standingOf,
  type Turns,
} from '@signalbox/crds';
import { EVERY_NEED } from '../objects/agent-needs.ts';
import { type CustomObject, definitionName, describe } from '../objects/custom-object.ts';
import { TOO_LARGE_SPEC } from '../objects/definition-size.ts';
import { CROWDED } from '../objects/spec-room.ts';
import { claimNames, claimOf, type Claims } from './claim-names.ts';
import { type Body, definitionOf, type WrittenDefinition } from './definition-text.ts';
import { conflict, judge, type Judgement } from './judgement.ts';
import { acceptedBody, acceptedOf, createStepRoom } from './last-accepted.ts';
import { gateState, isGated, isHeld, throughGate } from './readiness-gate.ts';
import { type Served, servedOf } from './served.ts';

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
  using _pass = rules.memo.pass();
  const home = rules.operator?.tenancy?.home ?? null;
  const { owners, losers } = claimNames(objects, home);
  const resolved = yield* resolveOwners(owners, rules);
  const verdicts: Verdict[] = [];
  for (const object of owners.values()) verdicts.push(yield* judged(object, resolved, { owners, rules }));
  const lost = losers.map(({ object, owner }): Verdict => ({
    ...conflict(definitionName(object), { object, owner }, home),
    object,
    body: null,
    served: null,
    lostName: true,
  }));
  return [...verdicts, ...lost];
}

type Sound = ResolvedPipeline | ResolvedStep | ResolvedAgent;

interface Resolved {
  sound: ReadonlyMap<string, Sound>;
  problems: ReadonlyMap<string, Problem[]>;
}

/** Steps are resolved first, so that pipelines get the last accepted body of a broken step. */
function* resolveOwners(owners: Claims['owners'], { operator, memo }: Planning): Turns<Resolved> {
  const of = Map.groupBy(owners.values(), ({ kind }) => kind);
  const sources = (kind: CustomObject['kind']) =>
    (of.get(kind) ?? []).flatMap((object) => (object.tooLarge ? [] : writtenOf(object, memo)));
  const agentsAndSteps = { pipelines: [], steps: sources('LibraryStep'), agents: sources('Agent'), operator };
  const first = yield* resolving(agentsAndSteps, memo);
  const soundSteps = new Set(first.steps.map(({ file }) => file));
  const steps: Source[] = [];
  const room = createStepRoom();
  for (const object of of.get('LibraryStep') ?? []) {
    if (soundSteps.has(describe(object))) steps.push(writtenOf(object, memo));
    else {
      yield null;
      const accepted = room.takes(object) ? acceptedStep(object, memo) : null;
      if (accepted || !object.tooLarge) steps.push(accepted ?? writtenOf(object, memo));
    }
  }
  const second = yield* resolving({ pipelines: sources('Pipeline'), steps, operator }, memo);
  const sound = new Map<string, Sound>();
  for (const list of [first.steps, first.agents, second.pipelines]) for (const one of list) sound.set(one.file, one);
  const tooLarge = [...owners.values()].filter((object) => object.tooLarge).map(tooLargeProblem);
  const problems = [...tooLarge, ...first.problems, ...second.problems.filter(({ kind }) => kind === 'Pipeline')];
  return { sound, problems: Map.groupBy(problems, ({ file }) => file) };
}

const tooLargeProblem = (object: CustomObject): Problem => ({
  severity: 'error',
  kind: object.kind,
  name: definitionName(object),
  file: describe(object),
  loc: [],
  msg: object.crowded ? CROWDED : TOO_LARGE_SPEC,
  reason: 'too_large',
});

interface Written extends WrittenDefinition, Source {
  text: string;
  value: Body;
  edition: string;
  /** In the memo. */
  key: string;
}

const written = new WeakMap<CustomObject, Written>();

/** The same for every edition of a spec: what the memo knows of it stays known while only the status changes. */
function remember(object: CustomObject, edition: string, { memo, what, make }: Remembering): Written {
  const file = describe(object);
  const isCurrent = (known: Written) => known.edition === edition;
  const key = `${what} ${file}`;
  return memo.recall(key, isCurrent, () => Object.assign(make(), { file, namespace: object.namespace, edition, key }));
}

interface Remembering {
  memo: ResolveMemo;
  what: 'spec' | 'accepted';
  make(): WrittenDefinition;
}

/** Never of an object whose spec was left out: it has the same edition once its spec is there. */
function writtenOf(object: CustomObject, memo: ResolveMemo): Written {
  const known = written.get(object);
  if (known && memo.find(known.key, (kept) => kept === known)) return known;
  const { uid, generation, kind } = object;
  const make = () => definitionOf(kind, throughGate(object, { ...object.spec, name: definitionName(object) }));
  const made = remember(object, `${uid} ${generation} ${gateState(object)}`, { memo, what: 'spec', make });
  written.set(object, made);
  return made;
}

function acceptedStep(object: CustomObject, memo: ResolveMemo): Written {
  const make = () => definitionOf(object.kind, acceptedBody(object));
  return remember(object, shortHash(object.status.lastAccepted), { memo, what: 'accepted', make });
}

interface Judging {
  owners: Claims['owners'];
  rules: Planning;
}

/** Verdicts of sound objects without a warning: the same for as long as neither the object nor what was made of it changes. */
const known = new WeakMap<CustomObject, { passed: Sound; verdict: Verdict }>();

function* judged(object: CustomObject, { sound, problems }: Resolved, { owners, rules }: Judging): Turns<Verdict> {
  const file = describe(object);
  const passed = sound.get(file);
  const found = problems.get(file) ?? [];
  if (!passed) {
    // To unpack what was accepted last takes long.
    yield null;
    return refused(object, found, { owners, rules });
  }
  const before = known.get(object);
  if (found.length === 0 && before?.passed === passed) return before.verdict;
  const definition = writtenOf(object, rules.memo);
  const { name, body } = passed;
  const isKept = isGated(object) && isHeld(object, object.spec);
  const hash = 'version' in passed ? passed.version : passed.hash;
  const verdict: Verdict = {
    ...judge(found, true),
    object,
    // The accepted body is the written one; the gate changes only what is served.
    body: isKept ? { ...body, stage: 'production' } : withSoul(passed),
    served: servedOf(() => definition, { name, hash, from: 'spec', held: isKept }),
    lostName: false,
  };
  if (found.length === 0) known.set(object, { passed, verdict });
  return verdict;
}

const withSoul = (passed: Sound): Body => ('soul' in passed ? { ...passed.body, soul: passed.soul } : passed.body);

function refused(object: CustomObject, found: readonly Problem[], { owners, rules }: Judging): Verdict {
  const lostName = mayNotStay(object, rules);
  const served = lostName ? null : lastAccepted(object, owners);
  const otherwise = object.status.lastAccepted?.leftOut === undefined ? 'nothing' : 'leftOut';
  return { ...judge(found, false, served ? 'served' : otherwise), object, body: null, served, lostName };
}

/**
 * Of what would stay served. The api-server judges pipelines again; nothing behind this judges what an agent is called, which decides about
 * its tools, and what its pods get. Not read from the problems: they are about the spec, and one that cannot be read has none.
 */
function mayNotStay(object: CustomObject, { operator }: Planning): boolean {
  const { lastAccepted } = object.status;
  const needs = lastAccepted?.leftOut === undefined ? acceptedOf(object)?.needs : (lastAccepted.needs ?? EVERY_NEED);
  const { name = definitionName(object), runtime = {} } = needs ?? {};
  const standing = standingOf(operator?.tenancy, object.namespace);
  return object.kind === 'Agent' && agentFindings({ name, runtime }, standing).length > 0;
}

/** The last accepted body, unless its name now belongs to another object. */
function lastAccepted(object: CustomObject, owners: Claims['owners']): Served | null {
  const served = acceptedOf(object)?.served ?? null;
  if (served && served.name !== definitionName(object) && owners.has(claimOf(object.kind, served.name))) return null;
  return served;
}
