import type { Condition } from '@signalbox/crds';
import type { CustomObject } from '../objects/custom-object.ts';
import { keyOf, type ServiceView } from '../observe/service-view.ts';
import type { Verdict } from '../plan/plan.ts';
import type { WorkloadState } from '../workloads/readiness.ts';
import { promotionOf } from './promotion.ts';
import { regressionFreeOf } from './regression-free.ts';
import type { NewCondition, Outcome } from './new-condition.ts';

/** The conditions of an object; each depends on those before it. */
export function conditionsOf(
  verdict: Verdict,
  view: ServiceView,
  workload: WorkloadState | null = null,
): NewCondition[] {
  const { accepted, reason, message } = verdict;
  const acceptedIs: NewCondition = { type: 'Accepted', status: accepted ? 'True' : 'False', reason, message };
  const synced: NewCondition = { type: 'Synced', ...syncedOf(verdict, view) };
  const ready: NewCondition = {
    type: 'Ready',
    ...readyOf([acceptedIs, synced, ...(workload ? [workload] : [])], warningOf(verdict, view)),
  };
  const known = [acceptedIs, synced, ready];
  if (verdict.object.kind !== 'Pipeline') return known;
  const regressionFree = regressionFreeOf(verdict.object, view);
  return [
    ...known,
    { type: 'PromotionReady', ...promotionOf(verdict, view) },
    ...(regressionFree ? [{ type: 'RegressionFree' as const, ...regressionFree }] : []),
  ];
}

const withoutName = (reason: string): Outcome =>
  reason === 'NameConflict'
    ? { status: 'False', reason, message: 'another object has this name' }
    : { status: 'False', reason: 'NotAccepted', message: 'its namespace may not have it' };

function syncedOf({ object, served, lostName, reason }: Verdict, view: ServiceView): Outcome {
  if (lostName) return withoutName(reason);
  if (!served) return { status: 'False', reason: 'NotAccepted', message: 'no definition was accepted yet' };
  if (!view.asked)
    return { status: 'Unknown', reason: 'NotObserved', message: 'the controller has no address of the service' };
  const key = keyOf(object.kind, served.name);
  const [down] = view.failed;
  const behind = view.replicas.filter(({ hashes }) => hashes.get(key) !== served.hash);
  if (behind.length > 0) return behindOf(key, behind, view.replicas.length);
  if (down) return { status: 'Unknown', reason: 'Unreachable', message: `${down.pod}: ${down.message}` };
  const all = view.replicas.length === 1 ? 'the service serves' : `all ${view.replicas.length} replicas serve`;
  const what = served.from === 'spec' ? 'this definition' : 'the last accepted definition';
  const stage = served.held ? ', at stage testing until PromotionReady' : '';
  return { status: 'True', reason: 'Synced', message: `${all} ${what}${stage}` };
}

function behindOf(
  key: string,
  behind: readonly { pod: string; errors: ReadonlyMap<string, string> }[],
  total: number,
): Outcome {
  const refused = behind.find(({ errors }) => errors.has(key));
  if (refused) return { status: 'False', reason: 'LoadError', message: `${refused.pod}: ${refused.errors.get(key)}` };
  return { status: 'False', reason: 'OutOfDate', message: `${behind.length} of ${total} replicas do not serve it yet` };
}

/** The first False decides, then the first Unknown. */
function readyOf(parts: readonly Outcome[], warning: string | undefined): Outcome {
  const first = parts.find(({ status }) => status === 'False') ?? parts.find(({ status }) => status === 'Unknown');
  if (first) return { status: first.status, reason: first.reason, message: first.message };
  const but = warning === undefined ? '' : `, with a warning: ${warning}`;
  return { status: 'True', reason: 'Ready', message: `accepted, and served by every replica${but}` };
}

/** A warning of a replica that serves the object, such as a model whose provider has no key. */
function warningOf({ object, served, undefinedAgents = [] }: Verdict, view: ServiceView): string | undefined {
  if (!served || !view.asked) return undefined;
  const [agent] = undefinedAgents;
  if (agent !== undefined) return `no agent "${agent}" is defined, so its step fails`;
  const key = keyOf(object.kind, served.name);
  return view.replicas.find(({ warnings }) => warnings.has(key))?.warnings.get(key);
}

/** Conditions with their times: a condition whose status is unchanged keeps its time. */
export function timed(
  wanted: readonly NewCondition[],
  before: readonly Condition[],
  { generation }: CustomObject,
  now: string,
): Condition[] {
  return wanted.map((one) => {
    const known = before.find(({ type }) => type === one.type);
    const since = known?.status === one.status ? known.lastTransitionTime : undefined;
    return { ...one, observedGeneration: generation, lastTransitionTime: since ?? now };
  });
}
