import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Registry } from '../../definitions/registry.ts';
import type { Counter } from '../../runs/state/records.ts';
import { addCounters, countedLabels } from '../../store/db/counters.ts';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { boundSeries } from './bound-series.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

/** Pipelines of a namespace have its name before the slash; of `shop` only `kept` has a definition, where it is given. */
const registryOf = (kept?: string) =>
  ({
    current: () => ({
      byName: {
        get: (name: string) => {
          const [namespace, rest] = name.split('/');
          const tenant = { egress_allow: [], receivers: [] };
          const isGone = kept !== undefined && namespace === 'shop' && name !== kept;
          return isGone || rest === undefined ? undefined : { standing: { namespace, admitted: true, tenant } };
        },
      },
    }),
  }) as unknown as Pick<Registry, 'current'>;
const names = { heldBy: (_kind: string, name: string) => (name.includes('/') ? name.split('/')[0] : undefined) };

const METRIC = 'pipeline_step_duration_seconds_sum';
const ended = (pipeline: string, n: number): Counter => {
  const long = String(n).padEnd(100, 'x');
  return { metric: METRIC, labels: [pipeline, long, 'gateway', long, long, long], value: 1 };
};
const OTHER = ['other', 'gateway', 'other', 'other', 'other'];
/** More than one namespace may have, of 8,000 characters each. */
const MORE = 700;
const countedIn = async (pipeline: string) =>
  (await countedLabels(store.database.db, METRIC)).filter(([name]) => name === pipeline);

/** What a service counts from its start on. */
async function count(pipeline: string, { names: most, kept }: { names: number; kept?: string }) {
  const database = await boundSeries(store.database, registryOf(kept), names);
  const counters = Array.from({ length: most }, (_, n) => ended(pipeline, n));
  await database.write((tx) => addCounters(tx, counters));
  return countedIn(pipeline);
}

test('a service that starts again goes on with the series that are stored, a namespace with those of its pipelines', async () => {
  const first = await count('shop/a', { names: 300 });
  expect(first).toHaveLength(300);
  const second = await count('shop/b', { names: MORE });
  expect(second.length).toBeLessThan(350);
  expect(second).toContainEqual(['shop/b', ...OTHER]);
  expect(await count('bank/a', { names: 300 })).toHaveLength(300);
  expect(await count('shop/a', { names: 300 })).toEqual(first);
});

test('pipelines that are gone count for the namespace that had them, however often it renames its own', async () => {
  for (const n of [0, 1, 2, 3, 4]) await count(`shop/p${n}`, { names: MORE, kept: `shop/p${n}` });
  expect((await countedIn('shop/p0')).length).toBeGreaterThan(300);
  expect(await countedIn('shop/p4')).toEqual([['shop/p4', ...OTHER]]);
  expect(await count('bank/a', { names: 300 })).toHaveLength(300);
});
