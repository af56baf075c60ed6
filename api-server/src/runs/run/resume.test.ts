import { Pipeline } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { createEventHub } from '../state/events.ts';
import type { StepExecution } from '../state/model.ts';
import { createPromptRoom } from '../state/prompt-room.ts';
import { createShares } from '../state/shares.ts';
import { createAnswerRoom } from '../step/answer-room.ts';
import { restore, type InterruptedRun, withRoom } from './resume.ts';

const NOW = 1_000_000;
const hub = createEventHub({ readStored: () => Promise.resolve([]), now: () => NOW, observe: () => undefined });
const steps = [{ name: 'one', executor: 'gateway', agent: 'a', prompt_template: 'hi' }];

function stored(durable: object, more: Partial<InterruptedRun> = {}): InterruptedRun {
  return {
    id: 'r',
    parentRunId: null,
    owner: null,
    status: 'running',
    pipeline: Pipeline.parse({ name: 'p', durable, steps }),
    context: {} as InterruptedRun['context'],
    team: null,
    namespace: null,
    stage: 'production',
    triggeredAt: 0,
    rerunOf: null,
    steps: [],
    events: [],
    below: { tokens: 0, cost: 0 },
    ...more,
  };
}
const rooms = {
  answers: createAnswerRoom(1_000, 1_000, () => null),
  prompts: createPromptRoom(createShares(10_000), () => null),
};
const slot = { giveBack: () => undefined, takeAgain: () => Promise.resolve() };
const take = (run: InterruptedRun) => restore(hub, run, { now: NOW, slot, parent: null, concurrencyGroup: null });

test.each([
  [999, false],
  [1000, true],
  [1001, true],
])('a run of 1000 s that may be %i s old goes on: %s', (maxAge, goes) => {
  const taken = take(stored({ max_resume_age_seconds: maxAge }));
  expect(taken.go).toBe(goes);
  if (!taken.go) expect(taken.outcome).toMatchObject({ status: 'escalated' });
});

test('a run that waited in the queue was not interrupted, however old', () => {
  expect(take(stored({ max_resume_age_seconds: 1 }, { status: 'queued' })).go).toBe(true);
});

test('what ended steps spent counts for the budget of the rest', () => {
  const step = { stepName: 'one', kind: 'step', executor: 'gateway', status: 'completed', output: {} };
  const spent = { inputTokens: 7, outputTokens: 5, cost: 0.5, trustReport: null, raw: null };
  const { run } = take(stored({}, { steps: [{ ...step, ...spent } as unknown as StepExecution] }));
  expect(run.totals).toMatchObject({ inputTokens: 7, outputTokens: 5, cost: 0.5 });
});

test('ended steps count for the bound of the run as they did before, and groups, which repeat their branches, do not', () => {
  const step = { stepName: 'one', kind: 'step', executor: 'gateway', status: 'completed', trustReport: null };
  const said = { summary: null, nextStepContext: null, output: { text: 'x'.repeat(5_000) } };
  const sizeOf = (more: object) =>
    take(stored({}, { steps: [{ ...step, ...said, rawResponse: null, ...more } as unknown as StepExecution] })).run
      .answers.size;
  expect(sizeOf({ rawResponse: { charged: 7_000, trace: [] } })).toBe(7_000);
  expect(sizeOf({ kind: 'fan_out' })).toBe(0);
  expect(sizeOf({ status: 'skipped', output: null })).toBe(0);
  // One of before it was stored.
  expect(sizeOf({ rawResponse: { prompt: 'y'.repeat(9_000), trace: Array(1_000).fill(1) } })).toBeGreaterThan(20_000);
  expect(sizeOf({ rawResponse: { prompt: 'y'.repeat(9_000) } })).toBeLessThan(6_000);
});

test('the answers of ended steps count for the bound of the run, and one for which there is no room ends', () => {
  const step = { stepName: 'one', kind: 'step', executor: 'gateway', status: 'completed', trustReport: null };
  const steps = [{ ...step, summary: null, output: { text: 'x'.repeat(5_000) } } as unknown as StepExecution];
  const taken = take(stored({}, { steps }));
  expect(taken.run.answers.size).toBeGreaterThan(5_000);
  const group = { ...step, stepName: 'all', kind: 'fan_out', output: { branches: ['x'.repeat(5_000)] } };
  const both = take(stored({}, { steps: [...steps, group as unknown as StepExecution] }));
  expect(both.run.answers.size).toBe(taken.run.answers.size);
  const noRoom = withRoom(rooms, taken);
  expect(noRoom).toMatchObject({
    go: false,
    outcome: { status: 'failed', error: { message: expect.stringContaining('no room in memory') } },
  });
  expect(noRoom.run.results.size).toBe(0);
});

test('a run for whose list there is no room ends, and holds it no more', () => {
  const of = (chars: number) => {
    const rawResponse = { items: ['x'.repeat(chars)] };
    const group = { stepName: 'each', kind: 'fan_out', executor: 'fan_out', status: 'running', rawResponse };
    return withRoom(rooms, take(stored({}, { steps: [group as unknown as StepExecution] })));
  };
  expect(of(4_000)).toMatchObject({ go: true });
  const noRoom = of(6_000);
  expect(noRoom).toMatchObject({ go: false, outcome: { status: 'failed' } });
  expect([...noRoom.run.inFlight.values()]).toMatchObject([{ stepName: 'each', rawResponse: null }]);
});
