import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { createPromptRoom } from './prompt-room.ts';

const runBelow = (parent: ActiveRun | null, namespace: string | null = null) => ({ parent, namespace }) as ActiveRun;
const raw = { prompt: 'x'.repeat(1_000) };

test('the prompts of a run and its sub-runs that go on have so much room together, and all are counted', () => {
  const room = createPromptRoom(5_000);
  const top = runBelow(null);
  const first = room.hold(top, raw);
  expect([first, room.hold(runBelow(top), raw), room.hold(top, raw)].map(({ refused }) => refused?.type)).toEqual([
    undefined,
    undefined,
    'prompts_too_large',
  ]);
  expect(room.hold(runBelow(null), raw).refused).toBeNull();
  expect(room.chars()).toBeGreaterThan(3_000);
  first[Symbol.dispose]();
  expect(room.hold(top, raw).refused).toBeNull();
});

test('runs of one namespace leave room to those of others', () => {
  const room = createPromptRoom(2_500);
  const hold = (namespace: string) => room.hold(runBelow(null, namespace), raw);
  const [first, ...others] = Array.from({ length: 5 }, () => hold('shop'));
  expect(others.map(({ refused }) => refused?.type)).toEqual([undefined, undefined, undefined, 'prompts_too_large']);
  expect(hold('bank').refused).toBeNull();
  first?.[Symbol.dispose]();
  expect(hold('shop').refused).toBeNull();
});
