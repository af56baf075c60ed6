import { ApiException, type V1Lease, V1MicroTime } from '@kubernetes/client-node';
import { expect, test, vi } from 'vitest';
import { runForLeadership } from './leadership.ts';

/** One lease with the optimistic locking of an API server. */
function leases() {
  let lease: V1Lease | null = null;
  let version = 0;
  let reads = 0;
  const refuse = (status: number): never => {
    throw new ApiException(status, '', {}, {});
  };
  const put = ({ metadata, spec }: V1Lease): V1Lease =>
    (lease = { metadata: { ...metadata, resourceVersion: String(++version) }, ...(spec ? { spec } : {}) });
  const calls = {
    readNamespacedLease: async () => {
      reads++;
      return lease ?? refuse(404);
    },
    createNamespacedLease: async ({ body }: { body: V1Lease }) => (lease ? refuse(409) : put(body)),
    replaceNamespacedLease: async ({ body }: { body: V1Lease }) =>
      body.metadata?.resourceVersion === lease?.metadata?.resourceVersion ? put(body) : refuse(409),
  };
  return {
    cluster: { leases: calls, namespace: 'signalbox' },
    holder: () => lease?.spec?.holderIdentity,
    reads: () => reads,
  };
}

function candidate(identity: string, cluster: ReturnType<typeof leases>['cluster'], now = Date.now) {
  const ending = new AbortController();
  const seen = { leads: 0, leading: false };
  const lead = () => Object.assign(seen, { leads: seen.leads + 1, leading: true });
  const lost = () => (seen.leading = false);
  const done = runForLeadership({ cluster, identity, now, lead, lost }, ending.signal);
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
  const b = candidate('b', cluster, () => now);
  await eventually(() => expect(reads()).toBeGreaterThan(1));
  now = 15_000;
  const before = reads();
  await eventually(() => expect(reads()).toBeGreaterThan(before));
  expect(holder()).toBe('gone');
  now = 16_000;
  await eventually(() => expect(b.seen.leads).toBe(1));
  await b.stop();
});
