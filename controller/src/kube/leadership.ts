import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Cluster } from './cluster.ts';

export interface LeadershipDeps {
  cluster: Pick<Cluster, 'send' | 'namespace'>;
  /** Who asks; different for every process. */
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

const Lease = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  spec: z
    .looseObject({
      holderIdentity: z.string().nullish(),
      renewTime: z.string().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      leaseTransitions: z.number().nullish(),
    })
    .default({}),
});
type Lease = z.infer<typeof Lease>;

/**
 * Holds a Lease while it can, and leads while it holds it (Design 7). A lease of another is taken over once it was seen
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
  const version = found?.metadata.resourceVersion ?? '';
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

const pathOf = ({ cluster }: LeadershipDeps): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${cluster.namespace}/leases`;

/** Null where there is none; undefined where nobody can say. */
async function read(deps: LeadershipDeps): Promise<Lease | null | undefined> {
  const answer = await deps.cluster.send({ method: 'GET', path: `${pathOf(deps)}/${NAME}` });
  if (!answer.ok) return answer.status === 404 ? null : undefined;
  const parsed = Lease.safeParse(answer.body);
  return parsed.success ? parsed.data : undefined;
}

const heldByOther = ({ identity }: LeadershipDeps, lease: Lease | null | undefined): boolean =>
  Boolean(lease?.spec.holderIdentity && lease.spec.holderIdentity !== identity);

function mayTake(deps: LeadershipDeps, lease: Lease | null, seenAt: number): boolean {
  if (lease === null || !heldByOther(deps, lease)) return true;
  return deps.now() - seenAt > (lease.spec.leaseDurationSeconds ?? DURATION_SECONDS) * 1000;
}

/** Writes the lease as it was read: of two that try, the API server refuses one. */
async function write(deps: LeadershipDeps, lease: Lease | null, signal: AbortSignal): Promise<boolean> {
  const { identity, now, cluster } = deps;
  const time = new Date(now()).toISOString().replace('Z', '000Z');
  const isNew = lease?.spec.holderIdentity !== identity;
  const body = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: lease ? lease.metadata : { name: NAME, namespace: cluster.namespace },
    spec: {
      ...lease?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: DURATION_SECONDS,
      renewTime: time,
      ...(isNew ? { acquireTime: time, leaseTransitions: (lease?.spec.leaseTransitions ?? 0) + (lease ? 1 : 0) } : {}),
    },
  };
  const path = lease ? `${pathOf(deps)}/${NAME}` : pathOf(deps);
  return (await cluster.send({ method: lease ? 'PUT' : 'POST', path, body, signal })).ok;
}

/** Gives the lease back, so that the next one need not wait for its end. */
async function release(deps: LeadershipDeps): Promise<void> {
  const lease = await read(deps);
  if (!lease || heldByOther(deps, lease)) return;
  const body = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    ...lease,
    spec: { ...lease.spec, holderIdentity: '' },
  };
  await deps.cluster.send({ method: 'PUT', path: `${pathOf(deps)}/${NAME}`, body });
}
