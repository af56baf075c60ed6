import { expect, test } from 'vitest';
import { runDetail, runLine, stepDetail } from '../../fixtures/runs.ts';
import { childRows } from './relations.ts';

const open = (step_name: string) =>
  stepDetail({ step_name, executor: 'pipeline', status: 'running', completed_at: null, raw_response: null });
const ended = stepDetail({ step_name: 'inspect', executor: 'pipeline', raw_response: { child_run_id: 'a' } });
const children = [runLine({ id: 'a' }), runLine({ id: 'b', status: 'running', completed_at: null })];

test('a sub-run says which step started it, also while both run', () => {
  const steps = (run: ReturnType<typeof runDetail>) => childRows(run, 0).map(({ step }) => step);
  expect(steps(runDetail({ children, steps: [ended, open('decide')] }))).toEqual(['inspect', 'decide']);
  expect(steps(runDetail({ children, steps: [ended, open('decide'), open('ask')] }))).toEqual(['inspect', '']);
});

test('each step is looked at once, however many sub-runs its run has', () => {
  let looks = 0;
  const steps = Array.from({ length: 300 }, (_, at) => ({
    ...stepDetail({ step_name: `s${at}`, executor: 'pipeline' }),
    get raw_response() {
      looks += 1;
      return { child_run_id: `r${at}` };
    },
  }));
  const many = runDetail({ steps, children: steps.map((_, at) => runLine({ id: `r${at}`, status: 'completed' })) });
  expect(childRows(many, 0).map(({ step }) => step)).toEqual(steps.slice(0, 100).map(({ step_name }) => step_name));
  expect(looks).toBe(300);
});

test('of many sub-runs those that did not go well are shown', () => {
  const completed = Array.from({ length: 150 }, (_, at) => runLine({ id: `r${at}`, status: 'completed' }));
  const late = [runLine({ id: 'warned', warning_count: 1 }), runLine({ id: 'open', status: 'running' })];
  const rows = childRows(runDetail({ children: [...completed, ...late] }), 0);
  expect(rows.map(({ href }) => href.split('/').at(-1)).slice(-3)).toEqual(['r97', 'warned', 'open']);
  expect(rows).toHaveLength(100);
});
