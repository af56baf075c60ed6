import type { Tenant } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { TriggerContext } from '../runs/state/model.ts';
import type { RunRequest } from '../runs/state/new-run.ts';
import { createShares, type Holding } from '../runs/state/shares.ts';
import { onePipeline } from '../store/fixtures/intake-on.ts';
import { createLimits } from './limits.ts';
import { NO_MEMORY } from './no-room.ts';

const CONTEXT: TriggerContext = {
  source: 'alert_router',
  pipeline: null,
  severity: null,
  labels: {},
  annotations: { log: 'x'.repeat(100_000) },
  summary: null,
  fingerprint: null,
  metadata: {},
  raw: null,
  receivedAt: 0,
};
/** Of a namespace with limits, or of the operator. */
function requestOf(namespace: string | null, tenant: Tenant = {}): RunRequest {
  const standing = { namespace, admitted: true, tenant: namespace === null ? null : tenant };
  return { pipeline: { ...onePipeline(), standing }, context: CONTEXT, team: null, dedupKey: null };
}

async function overOf(isFull: (namespace: string | null, also: Holding) => boolean, requests: readonly RunRequest[]) {
  const limits = createLimits({ isFull }, null, 0);
  const said: (string | null)[] = [];
  for (const request of requests) said.push(await limits.over(request));
  return said;
}

test('the runs of one delivery take no more memory together than there is', async () => {
  const { isFull } = createShares(50_000);
  const said = await overOf(
    isFull,
    Array.from({ length: 5 }, () => requestOf(null)),
  );
  expect(said).toEqual([null, null, null, NO_MEMORY, NO_MEMORY]);
});

test('what a delivery starts in one namespace counts for all, and for its share above all', async () => {
  const { isFull } = createShares(50_000);
  const said = await overOf(isFull, [
    ...Array.from({ length: 3 }, () => requestOf('shop')),
    requestOf('bank'),
    requestOf(null),
  ]);
  expect(said).toEqual([null, null, NO_MEMORY, null, NO_MEMORY]);
});

test('of a delivery with one run nothing is counted', async () => {
  const asked: Holding[] = [];
  await overOf((_, also) => (asked.push(also), false), [requestOf('shop')]);
  expect(asked).toEqual([{ all: 0, own: 0 }]);
});

test('the runs of one delivery count for max_runs', async () => {
  const tenantLoad = { activeRuns: () => Promise.resolve(1), tokensIn: () => Promise.resolve(0) };
  const limits = createLimits({ tenantLoad }, null, 0);
  const said = [];
  for (let index = 0; index < 3; index++) said.push(await limits.over(requestOf('shop', { max_runs: 3 })));
  expect(said).toEqual([null, null, expect.stringContaining('may have 3 active runs')]);
});
