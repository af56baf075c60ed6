import { expect, test } from 'vitest';
import type { ActiveRun } from './active-run.ts';
import { createPromptRoom } from './prompt-room.ts';

const runBelow = (parent: ActiveRun | null) => ({ parent }) as ActiveRun;
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
