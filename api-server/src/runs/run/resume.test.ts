import { Pipeline } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { createEventHub } from '../state/events.ts';
import type { RunEvent, StepExecution } from '../state/model.ts';
import { createAnswerRoom } from '../step/answer-room.ts';
import { restore, type InterruptedRun, withAnswers } from './resume.ts';

const NOW = 1_000_000;
const LATE = NOW + 3_600_000;
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

const event = (name: string, ts: number) => ({ seq: 1, ts: new Date(ts).toISOString(), event: name }) as RunEvent;
const resumed = (times: number) => Array.from({ length: times }, () => event('run_resumed', LATE - 60_000));
const inFlight = (executor: string) =>
  [{ stepName: 'one', kind: 'step', executor, status: 'running', trustReport: null }] as unknown as StepExecution[];
test.each<[string, Partial<InterruptedRun>, boolean]>([
  ['four resumes with a step in flight', { events: resumed(4), steps: inFlight('webhook') }, true],
  ['five resumes with nothing in flight', { events: resumed(5) }, true],
  ['five resumes with a step in flight', { events: resumed(5), steps: inFlight('webhook') }, false],
  [
    'five resumes and the end of a step after some',
    { events: [...resumed(3), event('step_failed', 0), ...resumed(2)], steps: inFlight('webhook') },
    true,
  ],
  [
    'five resumes, of which one is older than an hour',
    { events: [event('run_resumed', 0), ...resumed(4)], steps: inFlight('webhook') },
    true,
  ],
  ['five resumes while it waits for a person', { events: resumed(5), steps: inFlight('human') }, true],
  ['five resumes between the branches of a group', { events: resumed(5), steps: inFlight('fan_out') }, false],
  ['five resumes while it waits for a sub-run', { events: resumed(5), steps: inFlight('pipeline') }, true],
])('a run goes on or fails after %s', (_, more, goes) => {
  const taken = restore(hub, stored({}, more), { now: LATE, slot, parent: null, concurrencyGroup: null });
  expect(taken.go).toBe(goes);
  if (!taken.go) expect(taken.outcome).toMatchObject({ status: 'failed', error: { step: null } });
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

test('the answers of ended steps count for the bound of the run, and one for which there is no room ends', () => {
  const step = { stepName: 'one', kind: 'step', executor: 'gateway', status: 'completed', trustReport: null };
  const steps = [{ ...step, summary: null, output: { text: 'x'.repeat(5_000) } } as unknown as StepExecution];
  const taken = take(stored({}, { steps }));
  expect(taken.run.answers.size).toBeGreaterThan(5_000);
  const noRoom = withAnswers(
    createAnswerRoom(1_000, 1_000, () => null),
    taken,
  );
  expect(noRoom).toMatchObject({
    go: false,
    outcome: { status: 'failed', error: { message: expect.stringContaining('no room in memory') } },
  });
  expect(noRoom.run.results.size).toBe(0);
});
