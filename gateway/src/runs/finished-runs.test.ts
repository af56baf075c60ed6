import { expect, test } from 'vitest';
import { collectGarbage } from '../testing/collect-garbage.ts';
import { until } from '../testing/until.ts';
import { FinishedRuns } from './finished-runs.ts';

const MIB = 1024 * 1024;

const runOf = (id: string, share: string) => ({ id, key: id, share: { key: share, isBounded: true } });

function world() {
  const forgotten: string[] = [];
  let now = 0;
  const runs = new FinishedRuns<ReturnType<typeof runOf>>({
    now: () => now,
    onForget: ({ id }) => void forgotten.push(id),
  });
  const add = (id: string, share: string, chars: number) =>
    runs.add(runOf(id, share), { ok: true, json: 'x'.repeat(chars) });
  return { runs, add, forgotten, pass: (ms: number) => void (now += ms) };
}

test('large answers of one share make it forget its own, the oldest first, and not those of others', () => {
  const { runs, add, forgotten } = world();
  for (let count = 0; count < 10; count++) add(`few-${count}`, 'few', MIB);
  for (let count = 0; count < 40; count++) add(`many-${count}`, 'many', MIB);
  expect(forgotten).toEqual(Array.from({ length: 19 }, (_, at) => `many-${at}`));
  expect([runs.get('few-0')?.id, runs.get('many-18'), runs.get('many-39')?.id]).toEqual([
    'few-0',
    undefined,
    'many-39',
  ]);
});

test('so do many small ones', () => {
  const { add, forgotten } = world();
  add('one', 'few', 10);
  for (let count = 0; count < 10_001; count++) add(`many-${count}`, 'many', 10);
  expect(forgotten).toEqual(['many-0']);
});

test('after an hour a run is forgotten, whoever ends one', () => {
  const { add, forgotten, pass } = world();
  add('old', 'one', 10);
  pass(1_800_000);
  add('young', 'one', 10);
  pass(1_800_001);
  add('new', 'other', 10);
  expect(forgotten).toEqual(['old']);
});

test('what is forgotten is not kept', async () => {
  const { runs } = world();
  const first = new WeakRef(runOf('first', 'one'));
  runs.add(first.deref() ?? runOf('', ''), { ok: true, json: 'x'.repeat(MIB) });
  for (let count = 0; count < 40; count++) runs.add(runOf(`${count}`, 'one'), { ok: true, json: 'x'.repeat(MIB) });
  await until(() => {
    collectGarbage();
    return first.deref() === undefined;
  });
});
