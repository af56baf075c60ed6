import { expect, test } from 'vitest';
import type { StepDetail } from '../views/step.ts';
import { compare } from './compare.ts';

test('between the steps of two runs that answered the same, at length, others get their turn', async () => {
  const output = { list: Array.from({ length: 20_000 }, (_, at) => ({ at })) };
  const steps = Array.from(
    { length: 10 },
    (_, at) => ({ step_name: `s${at}`, step_index: at, summary: 'fine', output }) as unknown as StepDetail,
  );
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  const run = { line: {} as never, steps };
  expect((await compare(run, run)).steps.map(({ output_diff: diff }) => diff)).toEqual(steps.map(() => ''));
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(5);
});
