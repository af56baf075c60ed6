import { expect, test, vi } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Begun } from '../evidence/step-execution.ts';
import { StepResults } from '../state/step-results.ts';
import type { AnswerRoom } from '../step/answer-room.ts';
import { noteEnd } from '../step/step-notes.ts';
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

test('what a step lacked is not held once it has ended', () => {
  const run = {
    blanks: new Map(),
    results: new StepResults(),
    totals: {},
    journal: { add: () => undefined },
  } as unknown as ActiveRun;
  for (const name of ['a', 'b']) noteMissing('the prompt', { run, name })('labels.x');
  const ended = { run, name: 'a', kind: 'step', costs: [] } as unknown as Begun;
  noteEnd({ note: () => undefined } as unknown as AnswerRoom, ended, { status: 'completed', error: null });
  expect([...run.blanks.keys()]).toEqual(['b']);
});
