import { expect, test } from 'vitest';
import { StepResults, type StepView } from './step-results.ts';

const view = (summary: string): StepView => ({
  status: 'completed',
  summary,
  confidence: null,
  trust: null,
  output: {},
  next_step_context: null,
});

test('all texts of a run see one object, which follows its results', () => {
  const [first, second, again] = [view('first'), view('second'), view('again')];
  const results = new StepResults([['look-up', first]]);
  const { seen } = results;
  expect(seen).toEqual({ look_up: first, 'look-up': first });
  results.set('each/0', second).set('look-up', again);
  expect(results.seen).toBe(seen);
  expect(Object.entries(seen)).toEqual([
    ['look_up', again],
    ['look-up', again],
    ['each/0', second],
  ]);
  results.clear();
  expect(seen).toEqual({});
});
