import { setTimeout as delay } from 'node:timers/promises';
import { type V1Lease, V1MicroTime } from '@kubernetes/client-node';
import { abortedBy, answerOf } from './answer.ts';
import type { Cluster } from './cluster.ts';

export interface LeadershipDeps {
  cluster: Pick<Cluster, 'leases' | 'namespace'>;
  /** Name of this candidate; different for every process. */
  identity: string;
  /** Milliseconds that never step back. */
  now(): number;
  /** For people who read the lease; it decides nothing. */
  date(): Date;
  /** Called with a signal that is aborted when the lease is lost; another call may follow. */
  lead(signal: AbortSignal): void;
  lost(): void;
  timing?: Timing;
}

export interface Timing {
  durationSeconds: number;
  /** A leader that could not renew for this long stops, before another may begin. */
  deadlineMs: number;
  renewMs: number;
  retryMs: number;
}

const NAME = 'signalbox-controller';
const TIMING: Timing = { durationSeconds: 15, deadlineMs: 10_000, renewMs: 5000, retryMs: 2000 };
const timingOf = ({ timing = TIMING }: LeadershipDeps): Timing => timing;

/**
 * Holds a Lease while it can, and leads while it holds it. A lease of another holder is taken over after it was seen
 * unchanged for its whole duration by the clock of this process: clocks of machines are not compared.
 */
export async function runForLeadership(deps: LeadershipDeps, signal: AbortSignal): Promise<void> {
  const state: State = { seen: null, leading: null };
  while (!signal.aborted) {
    await renew(deps, state, signal);
    const { renewMs, retryMs } = timingOf(deps);
    await delay(state.leading ? renewMs : retryMs, undefined, { signal }).catch(() => undefined);
  }
  if (!state.leading) return;
  stand(deps, state);
  await release(deps);
}

interface State {
  /** The version of the lease that was seen last, and since when. */
  seen: { version: string; at: number } | null;
  leading: { controller: AbortController; end: NodeJS.Timeout } | null;
}

async function renew(deps: LeadershipDeps, state: State, signal: AbortSignal): Promise<void> {
  const since = deps.now();
  const found = await read(deps, signal);
  const version = versionOf(found);
  if (state.seen?.version !== version) state.seen = { version, at: deps.now() };
  const holds = found !== undefined && mayTake(deps, found, state.seen.at) && (await write(deps, found, signal));
  if (holds) hold(deps, state, since);
  else if (heldByOther(deps, found)) stand(deps, state);
}

/**
 * Leads until some time after the renewal was begun, whether or not the API server answers the next one: a late answer may be
 * that of a lease which another has taken since.
 */
function hold(deps: LeadershipDeps, state: State, since: number): void {
  const left = since + timingOf(deps).deadlineMs - deps.now();
  if (left <= 0) return;
  const begins = state.leading === null;
  const controller = state.leading?.controller ?? new AbortController();
  clearTimeout(state.leading?.end);
  state.leading = { controller, end: setTimeout(() => stand(deps, state), left) };
  if (begins) deps.lead(controller.signal);
}

function stand(deps: LeadershipDeps, state: State): void {
  if (!state.leading) return;
  clearTimeout(state.leading.end);
  state.leading.controller.abort();
  state.leading = null;
  deps.lost();
}

/** Null where there is none; undefined where the API server gave no answer. */
async function read(deps: LeadershipDeps, signal: AbortSignal): Promise<V1Lease | null | undefined> {
  const { leases, namespace } = deps.cluster;
  const answer = await answerOf(leases.readNamespacedLease({ namespace, name: NAME }, within(deps, signal)));
  if (answer.ok) return answer.body;
  return answer.status === 404 ? null : undefined;
}

/** A request that hangs must not keep the next one from being tried. */
const within = (deps: LeadershipDeps, signal: AbortSignal) =>
  abortedBy(AbortSignal.any([signal, AbortSignal.timeout(timingOf(deps).renewMs)]));

const versionOf = (lease: V1Lease | null | undefined): string => lease?.metadata?.resourceVersion ?? '';
const holderOf = (lease: V1Lease | null | undefined): string => lease?.spec?.holderIdentity ?? '';

const heldByOther = ({ identity }: LeadershipDeps, lease: V1Lease | null | undefined): boolean =>
  holderOf(lease) !== '' && holderOf(lease) !== identity;

function mayTake(deps: LeadershipDeps, lease: V1Lease | null, seenAt: number): boolean {
  if (!heldByOther(deps, lease)) return true;
  return deps.now() - seenAt > (lease?.spec?.leaseDurationSeconds ?? timingOf(deps).durationSeconds) * 1000;
}

/** Writes the lease with the version that was read: of two candidates that try, the API server refuses one. */
async function write(deps: LeadershipDeps, lease: V1Lease | null, signal: AbortSignal): Promise<boolean> {
  const { identity, date, cluster } = deps;
  const { leases, namespace } = cluster;
  const time = new V1MicroTime(date());
  const transitions = (lease?.spec?.leaseTransitions ?? 0) + (lease ? 1 : 0);
  const body: V1Lease = {
    ...(lease ?? { metadata: { name: NAME, namespace } }),
    spec: {
      ...lease?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: timingOf(deps).durationSeconds,
      renewTime: time,
      ...(holderOf(lease) === identity ? {} : { acquireTime: time, leaseTransitions: transitions }),
    },
  };
  const call = lease
    ? leases.replaceNamespacedLease({ namespace, name: NAME, body }, within(deps, signal))
    : leases.createNamespacedLease({ namespace, body }, within(deps, signal));
  return (await answerOf(call)).ok;
}

/** Gives the lease back, so that the next candidate need not wait until it expires. */
async function release(deps: LeadershipDeps): Promise<void> {
  const lease = await read(deps, new AbortController().signal);
  if (!lease || heldByOther(deps, lease)) return;
  const { leases, namespace } = deps.cluster;
  const body = { ...lease, spec: { ...lease.spec, holderIdentity: '' } };
  await answerOf(leases.replaceNamespacedLease({ namespace, name: NAME, body }));
}
