import { compileMatch, type Standing } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { LoadedPipeline } from '../definitions/snapshot.ts';
import { CONTEXT } from '../runs/fixtures/engine.ts';
import { closestPipelines } from './closest.ts';

const LISTED: Standing = { namespace: 'shop', admitted: true, tenant: {} };
const loaded = (name: string, match: Record<string, unknown>, more: Partial<LoadedPipeline> = {}) =>
  ({ name, match: compileMatch(match), standing: LISTED, ...more }) as unknown as LoadedPipeline;
const named = (...pipelines: LoadedPipeline[]) =>
  closestPipelines({ pipelines }, { ...CONTEXT, pipeline: null }, null).map(({ pipeline }) => pipeline);

test('pipelines whose namespace does not get the alert are not named', () => {
  const unlisted = { standing: { namespace: 'dev', admitted: false, tenant: null } };
  const elsewhere = { admission: compileMatch({ nowhere: 'x' }) };
  const match = { nothing: null, nowhere: 'x' };
  expect(named(loaded('a', match, unlisted), loaded('b', match, elsewhere), loaded('c', { nowhere: 'x' }))).toEqual([
    'c',
  ]);
});

test('however many rules there are, a bounded number is compared', () => {
  const match = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`a${at}`, 1]));
  let compared = 0;
  const compiled = compileMatch(match);
  const counted = { ...compiled, failure: () => ((compared += 64), null) };
  named(...Array.from({ length: 10_000 }, (_, at) => loaded(`p${at}`, match, { match: counted })));
  expect(compared).toBeGreaterThan(190_000);
  expect(compared).toBeLessThanOrEqual(200_000);
});
