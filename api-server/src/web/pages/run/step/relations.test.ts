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
