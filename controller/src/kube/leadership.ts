import { setTimeout as delay } from 'node:timers/promises';
import { type V1Lease, V1MicroTime } from '@kubernetes/client-node';
import { abortedBy, answerOf } from './answer.ts';
import type { Cluster } from './cluster.ts';

export interface LeadershipDeps {
  cluster: Pick<Cluster, 'leases' | 'namespace'>;
  /** Name of this candidate; different for every process. */
  identity: string;
  now(): number;
  /** Called with a signal that is aborted when the lease is lost; another call may follow. */
  lead(signal: AbortSignal): void;
  lost(): void;
}

const NAME = 'signalbox-controller';
const DURATION_SECONDS = 15;
/** A leader that could not renew for this long stops, before another may begin. */
const RENEW_DEADLINE_MS = 10_000;
const RENEW_MS = 5000;
const RETRY_MS = 2000;

/**
 * Holds a Lease while it can, and leads while it holds it. A lease of another holder is taken over after it was seen
 * unchanged for its whole duration by the clock of this process: clocks of machines are not compared.
 */
export async function runForLeadership(deps: LeadershipDeps, signal: AbortSignal): Promise<void> {
  const state: State = { seen: null, leading: null };
  while (!signal.aborted) {
    await renew(deps, state, signal);
    await delay(state.leading ? RENEW_MS : RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  if (!state.leading) return;
  stand(deps, state);
  await release(deps);
}

interface State {
  /** The version of the lease that was seen last, and since when. */
  seen: { version: string; at: number } | null;
  leading: { controller: AbortController; renewedAt: number } | null;
}

async function renew(deps: LeadershipDeps, state: State, signal: AbortSignal): Promise<void> {
  const found = await read(deps);
  const version = versionOf(found);
  if (state.seen?.version !== version) state.seen = { version, at: deps.now() };
  const holds = found !== undefined && mayTake(deps, found, state.seen.at) && (await write(deps, found, signal));
  if (holds) return hold(deps, state);
  if (heldByOther(deps, found) || isTooOld(deps, state)) stand(deps, state);
}

const isTooOld = ({ now }: LeadershipDeps, { leading }: State): boolean =>
  leading !== null && now() - leading.renewedAt >= RENEW_DEADLINE_MS;

function hold(deps: LeadershipDeps, state: State): void {
  const renewedAt = deps.now();
  if (state.leading) {
    state.leading.renewedAt = renewedAt;
    return;
  }
  state.leading = { controller: new AbortController(), renewedAt };
  deps.lead(state.leading.controller.signal);
}

function stand(deps: LeadershipDeps, state: State): void {
  if (!state.leading) return;
  state.leading.controller.abort();
  state.leading = null;
  deps.lost();
}

/** Null where there is none; undefined where the API server gave no answer. */
async function read({ cluster: { leases, namespace } }: LeadershipDeps): Promise<V1Lease | null | undefined> {
  const answer = await answerOf(leases.readNamespacedLease({ namespace, name: NAME }));
  if (answer.ok) return answer.body;
  return answer.status === 404 ? null : undefined;
}

const versionOf = (lease: V1Lease | null | undefined): string => lease?.metadata?.resourceVersion ?? '';
const holderOf = (lease: V1Lease | null | undefined): string => lease?.spec?.holderIdentity ?? '';

const heldByOther = ({ identity }: LeadershipDeps, lease: V1Lease | null | undefined): boolean =>
  holderOf(lease) !== '' && holderOf(lease) !== identity;

function mayTake(deps: LeadershipDeps, lease: V1Lease | null, seenAt: number): boolean {
  if (!heldByOther(deps, lease)) return true;
  return deps.now() - seenAt > (lease?.spec?.leaseDurationSeconds ?? DURATION_SECONDS) * 1000;
}

/** Writes the lease with the version that was read: of two candidates that try, the API server refuses one. */
async function write(deps: LeadershipDeps, lease: V1Lease | null, signal: AbortSignal): Promise<boolean> {
  const { identity, now, cluster } = deps;
  const { leases, namespace } = cluster;
  const time = new V1MicroTime(now());
  const transitions = (lease?.spec?.leaseTransitions ?? 0) + (lease ? 1 : 0);
  const body: V1Lease = {
    ...(lease ?? { metadata: { name: NAME, namespace } }),
    spec: {
      ...lease?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: DURATION_SECONDS,
      renewTime: time,
      ...(holderOf(lease) === identity ? {} : { acquireTime: time, leaseTransitions: transitions }),
    },
  };
  const call = lease
    ? leases.replaceNamespacedLease({ namespace, name: NAME, body }, abortedBy(signal))
    : leases.createNamespacedLease({ namespace, body }, abortedBy(signal));
  return (await answerOf(call)).ok;
}

/** Gives the lease back, so that the next candidate need not wait until it expires. */
async function release(deps: LeadershipDeps): Promise<void> {
  const lease = await read(deps);
  if (!lease || heldByOther(deps, lease)) return;
  const { leases, namespace } = deps.cluster;
  const body = { ...lease, spec: { ...lease.spec, holderIdentity: '' } };
  await answerOf(leases.replaceNamespacedLease({ namespace, name: NAME, body }));
}
