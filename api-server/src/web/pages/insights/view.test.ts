import { expect, test } from 'vitest';
import { figuresOf, type PipelineFacts } from '../../../analytics/pipeline-stats.ts';
import type { Statistics } from '../../../service/statistics/statistics.ts';
import { NOW } from '../fixtures/runs.ts';
import { fakeStatistics, runSum, statisticsOf, stepSum } from '../fixtures/statistics.ts';
import { firstRun } from '../runs/first-run.ts';
import { readQuery } from './filters.ts';
import { insightsView } from './view.ts';

const never = new AbortController().signal;
const DAY = 86_400_000;
const TODAY = NOW - (NOW % DAY);
const YESTERDAY = TODAY - DAY;

async function view(facts: Partial<PipelineFacts>, query: Record<string, string> = {}) {
  const statistics: Statistics = { ...fakeStatistics, ...statisticsOf(facts) };
  const read = readQuery(query);
  const insights = await statistics.insights(read, never);
  return insightsView({ insights, query: read, loaded: new Set(['checkout']), first: firstRun('http://x', null) });
}

const FACTS: Partial<PipelineFacts> = {
  ended: [
    runSum({ bucket: YESTERDAY, runs: 4 }),
    runSum({ bucket: TODAY, runs: 3 }),
    runSum({ bucket: TODAY, runs: 1, status: 'failed', pipeline: 'gone' }),
  ],
  steps: [
    stepSum({ bucket: TODAY, costSource: 'manual', cost: 1.5, unpriced: 0 }),
    stepSum({ bucket: TODAY, unpriced: 2 }),
  ],
  marks: [
    { of: String(TODAY), outcome: 'correct', n: 3 },
    { of: String(TODAY), outcome: 'incorrect', n: 1 },
  ],
};

test('figures say what changed against the window before', async () => {
  const { tiles } = await view(FACTS);
  const texts = tiles.map(({ label, figure, change, note }) => [label, figure, change?.text, change?.tone, note]);
  expect(texts.slice(0, 3)).toEqual([
    ['Runs', '8', '100% more than in the 7 days before', 'quiet', null],
    ['Success', '87.5%', '13 points lower than in the 7 days before', 'bad', null],
    ['Cost', '$1.50', 'the same as in the 7 days before', 'quiet', '2 steps have no price and are left out'],
  ]);
  expect(texts.at(-1)).toEqual([
    'Accuracy',
    '75.0%',
    'the same as in the 7 days before',
    'quiet',
    '4 runs labelled: 3 correct, 0 partial, 1 incorrect',
  ]);
});

test('without a window before, figures stand alone', async () => {
  const insights = {
    now: figuresOf({ ended: [runSum()], active: [], steps: [], percentiles: [], marks: [] }, 'USD'),
    before: null,
    points: [],
    pipelines: [],
    agents: [],
    models: [],
  };
  const query = readQuery({ time_range: 'all' });
  const { tiles } = insightsView({ insights, query, loaded: new Set(), first: firstRun('http://x', null) });
  expect(tiles.map(({ change }) => change)).toEqual(tiles.map(() => null));
});

test('every bar leads to the runs behind it, and the table under a chart has the same numbers', async () => {
  const { charts } = await view(FACTS, { stage: 'production' });
  const success = charts.find(({ id }) => id === 'success');
  expect(success?.bars.map(({ href, parts }) => [href, parts.map(({ look }) => look)])).toEqual([
    ['/ui/runs?stage=production&since=2026-11-20T12%3A00%3A00.000Z&until=2026-11-21T00%3A00%3A00.000Z', ['good']],
    [
      '/ui/runs?stage=production&since=2026-11-21T00%3A00%3A00.000Z&until=2026-11-21T12%3A00%3A00.000Z',
      ['good', 'bad'],
    ],
  ]);
  expect(success?.head).toEqual(['completed', 'escalated', 'failed or stopped', 'cancelled or active']);
  expect(success?.rows.map(({ values }) => values)).toEqual([
    ['4', '0', '0', '0'],
    ['3', '0', '1', '0'],
  ]);
});

test('a chart without anything says why', async () => {
  const { charts } = await view({ ended: [runSum({ bucket: TODAY })] });
  const empty = Object.fromEntries(charts.map(({ id, empty: why }) => [id, why]));
  expect(empty['success']).toBeNull();
  expect(empty['cost']).toContain('pricing');
  expect(empty['accuracy']).toContain('No run has a label');
});

test('the busiest pipeline comes first, and one that is not loaded leads to its runs', async () => {
  const { rows } = await view(FACTS);
  expect(rows.map(({ name, runs, href, gone }) => [name, runs, href.split('?')[0], gone])).toEqual([
    ['checkout', '7', '/ui/pipelines/checkout', false],
    ['gone', '1', '/ui/runs', true],
  ]);
});

test('where nothing ran, the page says where to look, and at last how to make the first run', async () => {
  const narrow = await view({});
  expect(narrow.lead).toBe('No production run in the last 7 days.');
  expect(narrow.empty?.ways.map(({ href }) => href)).toEqual([
    '/ui/insights?time_range=all&stage=production',
    '/ui/insights?time_range=7d&stage=all',
  ]);
  expect((await view({}, { time_range: 'all', stage: 'all' })).empty?.first?.curl).toContain('curl');
});

test('names in the address narrow the figures, stay in every link and can be taken away', async () => {
  const { narrowing, choices, tiles } = await view(FACTS, {
    pipeline: 'checkout',
    agent: 'triage',
    model: '',
    team: '\u0000',
  });
  expect(narrowing.fields.map(({ name, value }) => [name, value])).toEqual([
    ['pipeline', 'checkout'],
    ['team', ''],
    ['agent', 'triage'],
    ['model', ''],
  ]);
  expect(narrowing.chips).toEqual([
    { label: 'pipeline: checkout', href: '/ui/insights?time_range=7d&stage=production&agent=triage' },
    { label: 'agent: triage', href: '/ui/insights?time_range=7d&stage=production&pipeline=checkout' },
  ]);
  expect(choices[0]?.options[0]?.href).toBe(
    '/ui/insights?time_range=24h&stage=production&pipeline=checkout&agent=triage',
  );
  expect(tiles[0]?.href).toContain('pipeline=checkout&agent=triage');
});

test('teams, agents and models stand with what they used, and lead to the runs behind it', async () => {
  const steps = [
    stepSum({ team: 'shop', executions: 3, costSource: 'manual', cost: 2, unpriced: 0 }),
    stepSum({ agent: 'reader', model: null, unpriced: 1 }),
  ];
  const { groups } = await view({ ended: [runSum({ team: 'shop', runs: 2 }), runSum()], steps });
  const lines = groups.map(({ id, rows }) => [id, rows.map(({ name, count: n, cost: spent }) => [name, n, spent])]);
  expect(lines).toEqual([
    [
      'teams',
      [
        ['shop', '2', '$2.00'],
        ['no team', '1', '–'],
      ],
    ],
    [
      'agents',
      [
        ['investigator', '3', '$2.00'],
        ['reader', '1', '–'],
      ],
    ],
    ['models', [['scripted', '3', '$2.00']]],
  ]);
  expect(groups[1]?.rows[0]?.runsHref).toContain('agent=investigator');
  expect(groups[0]?.rows[0]?.href).toContain('team=shop');
  expect(groups[0]?.rows[1]?.runsHref).toContain('teamless=true');
});

test('a chart begins where the data begins, and escalated runs have a colour of their own', async () => {
  const point = (at: number, counts: Record<string, number>) => {
    const figures = figuresOf({ ended: [], active: [], steps: [], percentiles: [], marks: [] }, 'USD');
    const runs_total = Object.values(counts).reduce((sum, n) => sum + n, 0);
    return { from: at * DAY, to: (at + 1) * DAY, figures: { ...figures, runs_total, status_counts: counts } };
  };
  const points = Array.from({ length: 28 }, (_, at) => point(at, at === 15 ? { escalated: 2, failed: 1 } : {}));
  const insights = { now: points[15]!.figures, before: null, points, pipelines: [], agents: [], models: [] };
  const query = readQuery({});
  const { charts } = insightsView({ insights, query, loaded: new Set(), first: firstRun('http://x', null) });
  const success = charts.find(({ id }) => id === 'success');
  expect(success?.bars).toHaveLength(14);
  expect(success?.bars[1]?.parts.map(({ look }) => look)).toEqual(['escalated', 'bad']);
});
