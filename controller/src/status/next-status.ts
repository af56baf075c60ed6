import { canonicalJson, type Condition } from '@signalbox/crds';
import type { ObjectStatus } from '../objects/custom-object.ts';
import { keyOf, type LastRun, type ServiceView } from '../observe/service-view.ts';
import type { Verdict } from '../plan/plan.ts';
import { conditionsOf, timed } from './conditions.ts';

/** What the status of an object should be (Design 7). Pure; equal to what it is where nothing changed. */
export function nextStatus(verdict: Verdict, view: ServiceView, now: string): ObjectStatus {
  const { object, body, served } = verdict;
  const before = object.status;
  const name = served?.name;
  const key = name === undefined ? null : keyOf(object.kind, name);
  const next: ObjectStatus = {
    observedGeneration: object.generation,
    contentHash: served?.hash,
    lastAccepted: body ?? before.lastAccepted,
    conditions: timed(conditionsOf(verdict, view), before.conditions, object, now),
    replicas: replicasOf(key, view, before),
    lastRun: (key === null ? undefined : newestRun(key, view)) ?? before['lastRun'],
    agentVersion: object.kind === 'Agent' ? (served?.hash ?? before['agentVersion']) : undefined,
  };
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as ObjectStatus;
}

/** Replicas that do not answer keep their row until they do, or are gone from the addresses. */
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

export const sameStatus = (a: ObjectStatus, b: ObjectStatus): boolean => canonicalJson(a) === canonicalJson(b);

/** A change that people should hear of. */
export interface Transition {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

const TOLD = ['Accepted', 'Ready'];

/** Events of a change of status: where Accepted or Ready turned, or was not there and is False from the beginning. */
export function transitions(before: readonly Condition[], after: readonly Condition[]): Transition[] {
  const refused = after.some(({ type, status }) => type === 'Accepted' && status === 'False');
  return after
    .filter(({ type }) => TOLD.includes(type) && !(refused && type === 'Ready'))
    .filter((condition) => turned(before.find(({ type }) => type === condition.type)?.status, condition.status))
    .map(({ status, reason = '', message = '' }) => ({
      type: status === 'True' ? 'Normal' : 'Warning',
      reason,
      message,
    }));
}

function turned(before: Condition['status'] | undefined, after: Condition['status']): boolean {
  if (after === 'Unknown' || before === after) return false;
  return before !== undefined || after === 'False';
}
