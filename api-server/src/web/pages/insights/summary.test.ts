import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { fakeStatistics, runSum, statisticsOf, stepSum } from '../fixtures/statistics.ts';
import { modelRows, SUMMARY, summaryOf, unlessBusy } from './summary.ts';

const never = new AbortController().signal;
const statistics = {
  ...fakeStatistics,
  ...statisticsOf(
    { ended: [runSum({ runs: 3 }), runSum({ status: 'failed' })], steps: [stepSum({ unpriced: 2 })] },
    {
      ended: [
        stepSum({ executions: 4, reporting: 2 }),
        stepSum({ agent: null, provider: null, model: null, reporting: 0, inputTokens: 0, outputTokens: 0 }),
      ],
      labels: [
        { pipeline: 'checkout', agent: 'investigator', provider: 'demo', model: 'scripted', outcome: 'correct', n: 2 },
      ],
    },
  ),
};

test('a summary has the figures of the last month, and says what they are made of', async () => {
  const { facts, none } = summaryOf(await statistics.pipeline('checkout', SUMMARY, never), 'runs');
  expect(none).toBeNull();
  expect(facts.map(({ label, value, title }) => [label, value, title])).toEqual([
    ['Runs', '4', '3 completed, 1 failed'],
    ['Success', '75.0%', 'Completed, of what ended and was not cancelled'],
    ['Machine time, p95', '–', '500 ms on average'],
    ['Tokens', '110', '100 input, 10 output'],
    ['Cost', '–', '2 steps have no price'],
    ['Tokens of a run', '28', 'On average, over all runs of the time range'],
    ['Accuracy of runs', '–', 'no runs labelled'],
  ]);
});

test('machine time and the waiting for people stand apart, with both together on hover', async () => {
  const stats = await statistics.pipeline('checkout', SUMMARY, never);
  const took = { avg: 2_000, p95: 10_810, machine_p95: 10, waiting_p95: 10_800 };
  const { facts } = summaryOf({ ...stats, duration_seconds: took }, 'runs');
  expect(
    facts.filter(({ label }) => label.endsWith('p95')).map(({ label, value, title }) => [label, value, title]),
  ).toEqual([
    ['Machine time, p95', '10.0 s', 'Without the time in which a run waited for people'],
    ['Waiting for people, p95', '3 h 00 m', 'Of runs that waited. With waiting: p95 3 h 00 m, 33 m 20 s on average'],
  ]);
});

test('what has a price costs so much a run', async () => {
  const stats = await statistics.pipeline('checkout', SUMMARY, never);
  const { facts } = summaryOf({ ...stats, cost: { ...stats.cost, total: 2 } }, 'runs');
  expect(facts.find(({ label }) => label === 'Cost of a run')?.value).toBe('$0.50');
});

test('where nothing ran, or the statistics take too long, the summary says so', async () => {
  const nothing = await fakeStatistics.step('look', SUMMARY, never);
  expect(summaryOf(nothing, 'executions')).toMatchObject({ none: 'No executions in the last 30 days.', facts: [] });
  const late = await unlessBusy(Promise.reject(new AppError('unavailable', 'too many')));
  expect(summaryOf(late, 'executions').none).toContain('take too long');
  await expect(unlessBusy(Promise.reject(new Error('ours')))).rejects.toThrow('ours');
});

test('models are told apart by who answered; what reported no tokens has a dash', async () => {
  const rows = modelRows(await statistics.stepModels('look', SUMMARY, never));
  expect(rows.map(({ who, note, runs, tokens, accuracy }) => [who, note, runs, tokens, accuracy])).toEqual([
    ['scripted', 'investigator · demo', '4', '50 / 5', '100.0%'],
    ['no model', '', '1', '–', '–'],
  ]);
});
