import { expect, test, vi } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import type { StepContext } from '../state/step-context.ts';
import { noteMissing, refuseBlanks } from './blanks.ts';

test('of a text with thousands of long values that do not exist a few are named, in part', () => {
  const add = vi.fn<ActiveRun['journal']['add']>();
  const run = {
    journal: { add } as Partial<ActiveRun['journal']>,
    blanks: new Map(),
    pipeline: { on_missing_value: 'fail' },
  } as unknown as ActiveRun;
  const note = noteMissing('the prompt', { run, name: 'look' });
  for (let at = 0; at < 5_000; at++) note(`no${at}${'x'.repeat(2_000)}`);
  expect(add).toHaveBeenCalledTimes(20);
  const refused = refuseBlanks({ run, step: {}, name: 'look' } as unknown as StepContext);
  expect(refused?.message.length).toBeLessThan(2_100);
});
