import { ApiException, type V1Lease, V1MicroTime } from '@kubernetes/client-node';
import { expect, test, vi } from 'vitest';
import { type LeadershipDeps, runForLeadership, type Timing } from './leadership.ts';

/** One lease with the optimistic locking of an API server. */
function leases() {
  let lease: V1Lease | null = null;
  let version = 0;
  let reads = 0;
  let answers: Promise<void> = Promise.resolve();
  const refuse = (status: number): never => {
    throw new ApiException(status, '', {}, {});
  };
  const put = ({ metadata, spec }: V1Lease): V1Lease =>
    (lease = { metadata: { ...metadata, resourceVersion: String(++version) }, ...(spec ? { spec } : {}) });
  const calls = {
    readNamespacedLease: async () => {
      reads++;
      await answers;
      return lease ?? refuse(404);
    },
    createNamespacedLease: async ({ body }: { body: V1Lease }) => (lease ? refuse(409) : put(body)),
    replaceNamespacedLease: async ({ body }: { body: V1Lease }) => {
      const renewed = body.metadata?.resourceVersion === lease?.metadata?.resourceVersion ? put(body) : refuse(409);
      await answers;
      return renewed;
    },
  };
  return {
    cluster: { leases: calls, namespace: 'signalbox' },
    holder: () => lease?.spec?.holderIdentity,
    reads: () => reads,
    /** From now on the API server takes requests and does not answer them. */
    silence: () => void (answers = new Promise(() => undefined)),
  };
}

const TIMING: Timing = { durationSeconds: 15, deadlineMs: 300, renewMs: 50, retryMs: 20 };
const steady = () => performance.now();

function candidate(
  identity: string,
  cluster: ReturnType<typeof leases>['cluster'],
  change: Partial<LeadershipDeps> = {},
) {
  const ending = new AbortController();
  const seen = { leads: 0, leading: false };
  const lead = () => void Object.assign(seen, { leads: seen.leads + 1, leading: true });
  const lost = () => (seen.leading = false);
  const deps = { cluster, identity, now: steady, date: () => new Date(), lead, lost, timing: TIMING, ...change };
  const done = runForLeadership(deps, ending.signal);
  const stop = async () => {
    ending.abort();
    await done;
  };
  return { seen, stop };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

test('of two that ask one leads, and the other takes over when it leaves', async () => {
  const { cluster, holder } = leases();
  const a = candidate('a', cluster);
  await eventually(() => expect(a.seen.leading).toBe(true));
  const b = candidate('b', cluster);
  await a.stop();
  expect(a.seen.leading).toBe(false);
  expect(holder()).toBe('');
  await eventually(() => expect(b.seen).toEqual({ leads: 1, leading: true }));
  expect(holder()).toBe('b');
  await b.stop();
});

test('a lease whose holder is gone is taken once it was seen unchanged for its whole time', async () => {
  const { cluster, holder, reads } = leases();
  await cluster.leases.createNamespacedLease({
    body: {
      metadata: { name: 'x' },
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: new V1MicroTime('1999-01-01') },
    },
  });
  let now = 0;
  const b = candidate('b', cluster, { now: () => now });
  await eventually(() => expect(reads()).toBeGreaterThan(1));
  now = 15_000;
  const before = reads();
  await eventually(() => expect(reads()).toBeGreaterThan(before));
  expect(holder()).toBe('gone');
  now = 16_000;
  await eventually(() => expect(b.seen.leads).toBe(1));
  await b.stop();
});

test('a leader whose API server is silent stops in time, and an answer that comes too late does not bring it back', async () => {
  const { cluster, silence } = leases();
  const a = candidate('a', cluster);
  await eventually(() => expect(a.seen.leading).toBe(true));
  silence();
  const since = performance.now();
  await eventually(() => expect(a.seen.leading).toBe(false));
  // The lease lasts 15 s from the last renewal, as others see it.
  expect(performance.now() - since).toBeLessThan(5000);
  void a.stop();
});

test('a renewal whose answer took longer than a leader may go on without one is none', async () => {
  const { cluster } = leases();
  let now = 0;
  const seen: string[] = [];
  const slow = {
    ...cluster,
    leases: {
      ...cluster.leases,
      createNamespacedLease: async (request: { body: V1Lease }) => {
        const made = await cluster.leases.createNamespacedLease(request);
        now += TIMING.deadlineMs;
        seen.push('a late answer');
        return made;
      },
      replaceNamespacedLease: async (request: { body: V1Lease }) => {
        seen.push('renewed');
        return cluster.leases.replaceNamespacedLease(request);
      },
    },
  };
  const a = candidate('a', slow, { now: () => now, lead: () => seen.push('leads') });
  await eventually(() => expect(seen).toContain('leads'));
  expect(seen).toEqual(['a late answer', 'renewed', 'leads']);
  await a.stop();
});
