import { expect, test } from 'vitest';
import { count } from '../format.ts';
import { snapshotOf } from '../fixtures/fake-deps.ts';
import { NOW, runLine } from '../fixtures/runs.ts';
import type { PageDeps } from '../page-deps.ts';
import type { RunLine } from '../../../service/views/run.ts';
import { firstRun } from '../runs/first-run.ts';
import { overviewView } from './view.ts';

const page = (...runs: RunLine[]) => ({ runs, limit: 8, offset: 0, total: runs.length, next_cursor: null });
const view = (fields: Partial<Parameters<typeof overviewView>[0]> = {}) =>
  overviewView({
    running: page(),
    asking: page(),
    open: page(),
    failed: page(),
    completed: page(),
    testing: page(),
    refused: [],
    trend: [],
    pipelines: [],
    verdictOf: () => null,
    first: firstRun('http://127.0.0.1:8000', null),
    now: NOW,
    currency: 'USD',
    ...fields,
  });
const figures = (model: ReturnType<typeof view>) =>
  Object.fromEntries(model.tiles.map(({ label, figure }) => [label, figure]));

test('a run that waits for a person counts as waiting, not as running', () => {
  const running = page(runLine({ status: 'running', waiting_on: 'run:1' }));
  const asking = page(runLine({ status: 'running', waiting_on: 'human' }));
  const model = view({ running, asking, open: page(runLine({ status: 'escalated' })) });
  expect(figures(model)).toMatchObject({ 'Running now': '1', 'Waiting for you': '2' });
  expect(model.panels[1]!.rows.map((row) => row.detail)).toEqual(['waiting for a decision', null]);
  expect(model.tiles[1]!.note).toBe('1 to decide, 1 to acknowledge');
  expect(model.panels[1]!.also).toEqual({ href: '/ui/approvals', label: 'Approvals' });
});

test('runs are counted beyond those that are listed', () => {
  const asking = { ...page(runLine({ status: 'running', waiting_on: 'human' })), total: 60 };
  const running = { ...page(runLine({ status: 'running' })), total: 70 };
  const model = view({ running, asking, open: page(runLine({ status: 'escalated' })) });
  expect(figures(model)).toMatchObject({ 'Running now': '70', 'Waiting for you': '61' });
  expect(model.tiles[1]!.note).toBe('60 to decide, 1 to acknowledge');
});

test('runs that wait for a decision hide no escalation', () => {
  const asking = Array.from({ length: 8 }, () => runLine({ status: 'running', waiting_on: 'human' }));
  const model = view({ asking: page(...asking), open: page(runLine({ status: 'escalated' })) });
  const asked = 'waiting for a decision';
  expect(model.panels[1]!.rows.map((row) => row.detail)).toEqual([asked, asked, asked, null, asked, asked]);
});

test('failed and aborted runs stand together, and so does their link', () => {
  const older = runLine({ status: 'failed', triggered_at: '2026-11-21T08:00:00Z', id: 'older' });
  const newer = runLine({ status: 'aborted', triggered_at: '2026-11-21T09:00:00Z', id: 'newer' });
  const model = view({ failed: page(newer, older) });
  expect(model.panels[2]!.rows.map(({ id }) => id)).toEqual(['newer', 'older']);
  expect(model.lead).toBe('2 failures in the last 24 hours.');
  expect(model.panels[2]).toMatchObject({ id: 'failed', more: '/ui/runs?status=failed%2Caborted&replay=false' });
});

test('a figure that is only a lower bound says so', () => {
  const many = { ...page(runLine({ status: 'failed' })), total: 10_000, total_is_lower_bound: true as const };
  const model = view({ failed: many, completed: many });
  expect(figures(model)).toMatchObject({ Failed: `${count(10_000)}+`, Completed: `${count(10_000)}+` });
  expect(model.lead).toBe(`${count(10_000)}+ failures in the last 24 hours.`);
});

test('nothing at all shows how to begin, a quiet day says so', () => {
  expect(view().empty).toBe(true);
  expect(view({ completed: page(runLine()) })).toMatchObject({
    empty: false,
    lead: 'No run waits for a person and none failed in the last 24 hours.',
  });
});

test('pipelines in testing say how they did', () => {
  const entry = { name: 'checkout-errors', file: 'a.yaml', text: '', hash: '', config: { stage: 'testing' } };
  const testing = page(runLine({ stage: 'testing' }), runLine({ stage: 'testing', status: 'failed' }));
  expect(
    view({
      ...snapshotOf({ pipelines: [entry, { ...entry, name: 'live', config: { stage: 'production' } }] }),
      testing,
    }).testing,
  ).toMatchObject([{ name: 'checkout-errors', note: '1 of 2 recent runs completed', look: { word: 'Not assessed' } }]);
});

test('what may leave testing stands first, with what holds the others back', () => {
  const entry = (name: string) => ({ name, file: `${name}.yaml`, text: '', hash: `hash of ${name}`, config: {} });
  const verdicts: Record<string, NonNullable<ReturnType<PageDeps['definitions']['verdictOf']>>> = {
    'hash of slow': { verdict: 'building', reason: 'step look, accuracy: 7 of 20 marked results; 13 more to go' },
    'hash of fine': { verdict: 'ready', reason: 'the evidence at stage testing meets every criterion' },
    'hash of bare': { verdict: 'not_configured', reason: 'none of 2 steps has readiness criteria' },
    'hash of edited before': { verdict: 'ready', reason: 'of another edition' },
  };
  const model = view({
    ...snapshotOf({ pipelines: ['edited', 'bare', 'slow', 'fine'].map(entry) }),
    verdictOf: (_, hash) => verdicts[hash] ?? null,
  });
  expect(model.testing.map(({ name, look, note }) => [name, look.word, note])).toEqual([
    ['fine', 'Ready', 'The evidence at stage testing meets every criterion'],
    ['slow', 'Collecting evidence', 'Step look, accuracy: 7 of 20 marked results; 13 more to go'],
    ['bare', 'Not required', 'no run in the last 7 days'],
    ['edited', 'Not assessed', 'no run in the last 7 days'],
  ]);
  expect(model.testing[0]?.href).toBe('/ui/pipelines/fine#readiness');
});

test('deliveries that should have started something are counted, with a link to them', () => {
  const refused = [
    { outcome: 'no_pipeline' as const, count: 1000, isMore: true },
    { outcome: 'invalid' as const, count: 1, isMore: false },
  ];
  expect(view({ refused }).refused).toEqual([
    {
      text: `${count(1000)} or more deliveries of the last 24 hours matched no pipeline.`,
      href: '/ui/deliveries?outcome=no_pipeline',
    },
    { text: '1 delivery of the last 24 hours could not be read.', href: '/ui/deliveries?outcome=invalid' },
  ]);
});
