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

/** Pipelines of a namespace have its name before the slash; further ones have no definition. */
const registry = {
  current: () => ({
    byName: {
      get: (name: string) => {
        const [namespace, rest] = name.split('/');
        const tenant = { egress_allow: [], receivers: [] };
        return rest === undefined ? undefined : { standing: { namespace, admitted: true, tenant } };
      },
    },
  }),
} as unknown as Pick<Registry, 'current'>;

const ended = (pipeline: string, n: number): Counter => ({
  metric: 'step_deterministic_check_total',
  labels: [pipeline, `step${n}`, 'passed'],
  value: 1,
});
const countedIn = async (pipeline: string) =>
  (await countedLabels(store.database.db, 'step_deterministic_check_total')).filter(([name]) => name === pipeline);

test('a service that starts again goes on with the series that are stored, a namespace with those of its pipelines', async () => {
  const add = async (pipeline: string, from: number, to: number) => {
    const database = await boundSeries(store.database, registry);
    const counters = Array.from({ length: to - from }, (_, n) => ended(pipeline, from + n));
    await database.write((tx) => addCounters(tx, counters));
  };
  await add('shop/a', 0, 1_500);
  await add('shop/b', 0, 1_500);
  await add('gone', 0, 10);
  await add('bank/a', 0, 10);
  expect(await countedIn('shop/a')).toHaveLength(1_500);
  expect(await countedIn('shop/b')).toHaveLength(501);
  expect(await countedIn('shop/b')).toContainEqual(['shop/b', 'other', 'passed']);
  expect(await countedIn('bank/a')).toHaveLength(10);
});
