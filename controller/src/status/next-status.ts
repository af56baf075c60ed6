import { isDeepStrictEqual } from 'node:util';
import { canonicalJson, type Condition } from '@signalbox/crds';
import { AGENT_LABEL } from '../objects/child-object.ts';
import { agentNeeds } from '../objects/agent-needs.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import type { ObjectStatus } from '../objects/object-status.ts';
import { packBody, type PackedBody, unpackBody, withNeeds } from '../objects/packed-body.ts';
import { type DiscoveredTool, keyOf, type LastRun, type ServiceView } from '../observe/service-view.ts';
import { acceptedOf } from '../plan/last-accepted.ts';
import type { Verdict } from '../plan/plan.ts';
import { VALID } from '../plan/judgement.ts';
import { nextPromoted } from '../plan/readiness-gate.ts';
import type { WorkloadState } from '../workloads/readiness.ts';
import { changedKeys } from './changed-keys.ts';
import { conditionsOf, timed } from './conditions.ts';

/** The wanted status of an object. Pure; equal to the present status where nothing changed. */
export function nextStatus(
  verdict: Verdict,
  view: ServiceView,
  now: string,
  workload: WorkloadState | null = null,
): ObjectStatus {
  const { object, served } = verdict;
  const before = object.status;
  const name = served?.name;
  const key = name === undefined ? null : keyOf(object.kind, name);
  const conditions = conditionsOf(verdict, view, workload);
  const verdictIsReady = conditions.some(({ type, status }) => type === 'PromotionReady' && status === 'True');
  const next: ObjectStatus = {
    observedGeneration: object.generation,
    contentHash: served?.hash,
    lastAccepted: acceptedPart(verdict),
    conditions: timed(conditions, before.conditions, object, now),
    replicas: replicasOf(key, view, before),
    lastRun: (key === null ? undefined : newestRun(key, view)) ?? before['lastRun'],
    stage: stageOf(verdict),
    promoted: nextPromoted(object, inProduction(verdict), verdictIsReady),
    ...(object.kind === 'Agent' ? { ...agentPart(verdict, key, view), scale: scaleOf(object, workload) } : {}),
    ...aboutLeftOut(before),
  };
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as ObjectStatus;
}

function acceptedPart({ object, body }: Verdict): PackedBody | undefined {
  const before = object.status.lastAccepted;
  const packed = body ? packBody(body, before) : before;
  if (object.kind !== 'Agent' || packed?.leftOut !== undefined) return packed;
  // Also of one that is refused now: an earlier version wrote none, and others may have written what they like.
  return packed && withNeeds(packed, body ? agentNeeds(body) : acceptedOf(object)?.needs);
}

/** What a status says of a body that was left out here, which nobody can judge. */
const aboutLeftOut = ({ lastAccepted, contentHash, stage, promoted }: ObjectStatus) =>
  lastAccepted?.leftOut === undefined ? {} : { contentHash, stage, promoted };

/** The stage that the services use: `testing` where none is written or the gate holds it. */
function stageOf(verdict: Verdict): string | undefined {
  const { object, served } = verdict;
  if (object.kind !== 'Pipeline' || !served) return undefined;
  return inProduction(verdict) && !served.held ? 'production' : 'testing';
}

/** Whether the accepted body says so. */
const inProduction = ({ object, body }: Verdict): boolean =>
  body ? body['stage'] === 'production' : acceptedOf(object)?.inProduction === true;

/** Replicas that do not answer keep their row until they answer, or their address is gone. */
function replicasOf(key: string | null, view: ServiceView, before: ObjectStatus): ObjectStatus['replicas'] {
  if (key === null || !view.asked) return [];
  const silent = new Set(view.failed.map(({ pod }) => pod));
  const known = before.replicas.filter(({ pod }) => silent.has(pod));
  const answered = view.replicas.map(({ pod, hashes }) => ({ pod, hash: hashes.get(key) ?? null }));
  return [...answered, ...known].toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
}

function newestRun(key: string, view: ServiceView): LastRun | undefined {
  if (!view.asked) return undefined;
  return view.replicas
    .flatMap(({ lastRuns }) => lastRuns.get(key) ?? [])
    .toSorted((a, b) => (a.triggeredAt < b.triggeredAt ? 1 : -1))[0];
}

const agentPart = ({ object: { status }, served }: Verdict, key: string | null, view: ServiceView) => ({
  agentVersion: served?.hash ?? status['agentVersion'],
  discoveredTools: (key === null ? undefined : toolsOf(key, view)) ?? status['discoveredTools'],
});

/** For autoscalers, to which a number that is not known must not look like zero pods. */
function scaleOf({ name, status }: CustomObject, workload: WorkloadState | null): unknown {
  if (workload === null) return undefined;
  if (workload.pods === undefined) return status['scale'];
  return { replicas: workload.pods, selector: `${AGENT_LABEL}=${name}` };
}

/** From the first replica that reports the agent's tools. */
function toolsOf(key: string, view: ServiceView): readonly DiscoveredTool[] | undefined {
  return view.asked ? view.replicas.find(({ tools }) => tools.has(key))?.tools.get(key) : undefined;
}

/** The first comparison finds most that are equal, in a tenth of the time; to it a member that is undefined is one. */
export const sameStatus = (a: ObjectStatus, b: ObjectStatus): boolean =>
  isDeepStrictEqual(a, b) || canonicalJson(a) === canonicalJson(b);

/** A change that becomes an Event. */
export interface Transition {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

const REPORTED = ['Accepted', 'Ready'];

/** These states pass without help: the service is about to load the file, the pods start. */
const PASSING: ReadonlySet<string | undefined> = new Set(['OutOfDate', 'Starting']);

/** Events of a change of status: what was edited, what the rules warn of since, and conditions that turned. */
export const transitions = (before: Before, after: Before): Transition[] => [
  ...edited(before.lastAccepted, after.lastAccepted),
  ...warned(before.conditions, after.conditions),
  ...turns(before.conditions, after.conditions),
];

type Before = Pick<ObjectStatus, 'conditions' | 'lastAccepted'>;

function edited(before: ObjectStatus['lastAccepted'], after: ObjectStatus['lastAccepted']): Transition[] {
  if (!before || !after || before.hash === after.hash) return [];
  const keys = changedKeys(unpackBody(before), unpackBody(after));
  return keys === ''
    ? []
    : [{ type: 'Normal', reason: 'Changed', message: `a new edition was accepted: ${keys} changed` }];
}

function warned(before: readonly Condition[], after: readonly Condition[]): Transition[] {
  const [was, is] = [before, after].map((conditions) => conditions.find(({ type }) => type === 'Accepted'));
  if (is?.status !== 'True' || is.message === VALID || is.message === was?.message) return [];
  return [{ type: 'Warning', reason: 'AcceptedWithWarnings', message: is.message ?? '' }];
}

/**
 * Where Accepted or Ready turned, was not there and is False from the beginning, or is False after something that should
 * have passed.
 */
function turns(before: readonly Condition[], after: readonly Condition[]): Transition[] {
  const refused = after.some(({ type, status }) => type === 'Accepted' && status === 'False');
  return after
    .filter(({ type, reason }) => REPORTED.includes(type) && !PASSING.has(reason) && !(refused && type === 'Ready'))
    .flatMap((condition): Transition[] => {
      const was = before.find(({ type }) => type === condition.type);
      if (!turned(was, condition)) return [];
      const { type, status, reason = '', message = '' } = condition;
      const since = was ? `${type} was ${was.status} (${was.reason}) and is ${status}: ` : '';
      return [{ type: status === 'True' ? 'Normal' : 'Warning', reason, message: `${since}${message}` }];
    });
}

function turned(before: Condition | undefined, { status }: Condition): boolean {
  if (status === 'Unknown') return false;
  if (before === undefined) return status === 'False';
  return before.status !== status || PASSING.has(before.reason);
}
