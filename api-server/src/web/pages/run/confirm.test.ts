import { expect, test } from 'vitest';
import { runDetail, stepDetail } from '../fixtures/runs.ts';
import { confirmCancel, confirmRerun } from './confirm.ts';

const step = (step_index: number, agent: string | null, tokens: number) =>
  stepDetail({ step_name: `s${step_index}`, step_index, agent, input_tokens: tokens, output_tokens: 0 });
const steps = [step(0, 'triage', 300), step(1, 'fix', 40), step(2, 'triage', 5), step(3, null, 0)];
const run = runDetail({ steps });

test('a rerun says which part of the run it asks again, and what that spent', () => {
  expect(confirmRerun(run, null)).toMatchObject({
    from: null,
    button: 'primary',
    effect: 'Starts a new run with the definition as it is now. It asks 2 agents again. They spent 345 tokens before.',
  });
  expect(confirmRerun(run, steps[2] ?? null)).toMatchObject({
    from: 's2',
    effect: 'Starts a new run with the definition as it is now. It asks 1 agent again. It spent 5 tokens before.',
  });
  expect(confirmRerun(run, steps[3] ?? null).effect).toMatch(/These steps asked no agent\.$/);
});

test('a cancel is drawn as what ends something', () => {
  expect(confirmCancel(run)).toMatchObject({ yes: 'Cancel this run', button: 'danger' });
});
