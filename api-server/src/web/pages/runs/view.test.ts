import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { NOW, runLine } from '../fixtures/runs.ts';
import { readFilters, toRunsQuery } from './filters/filters.ts';
import { firstRun } from './first-run.ts';
import { costCell, runRow, trustBar } from './row.ts';
import { runsView } from './view.ts';

const first = firstRun('http://127.0.0.1:8000', null);
const view = (fields: Partial<Parameters<typeof runsView>[0]> = {}) =>
  runsView({
    page: { runs: [runLine()], limit: 50, offset: 0, total: 1, next_cursor: null },
    filters: { page: 1 },
    pipelines: ['checkout-errors'],
    views: { teams: [], own: [] },
    first,
    operator: true,
    now: NOW,
    currency: 'USD',
    ...fields,
  });

test('known filters are read, others and nonsense are not', () => {
  const filters = readFilters({ status: ' failed ', q: 'x'.repeat(500), unknown: 'y', stage: ['a'], page: '-3' });
  expect(filters).toEqual({ status: 'failed', q: 'x'.repeat(200), page: 1 });
  expect(toRunsQuery({ ...filters, page: 3 }, NOW)).toMatchObject({ limit: 50, offset: 100, status: ['failed'] });
});

test('a time that is asked for shows as a filter that can be taken away, and what is no time is not one', () => {
  const filters = readFilters({ since: '2026-11-20T00:00:00.000Z', until: 'tomorrow' });
  expect(toRunsQuery(filters, NOW)).toMatchObject({ since: Date.parse('2026-11-20T00:00:00.000Z') });
  expect(filters).not.toHaveProperty('until');
  const { bar, filtered } = view({ filters });
  expect(bar.chips).toMatchObject([{ label: 'from 2026-11-20 00:00:00 UTC', href: '/ui/runs' }]);
  expect(filtered).toBe(true);
});

test('runs without a team are a filter with a word', () => {
  const filters = readFilters({ teamless: 'true' });
  expect(toRunsQuery(filters, NOW)).toMatchObject({ teamless: true });
  expect(view({ filters }).bar.chips).toMatchObject([{ label: 'Without a team', href: '/ui/runs' }]);
  expect(readFilters({ teamless: 'maybe' })).toEqual({ page: 1 });
});

test('several statuses are one filter, whether repeated or separated by commas', () => {
  for (const status of ['failed,aborted', ['failed', 'aborted']])
    expect(toRunsQuery(readFilters({ status }), NOW)).toMatchObject({ status: ['failed', 'aborted'] });
  const [status] = view({ filters: { page: 1, status: 'failed,aborted' } }).bar.selects;
  expect(status!.options.filter(({ selected }) => selected)).toMatchObject([{ label: 'Failed or aborted' }]);
});

test('a marked run says how it was marked', () => {
  const row = runRow(runLine({ feedback_outcome: 'incorrect' }), { now: NOW, currency: 'USD' });
  expect([row.mark?.word, runRow(runLine(), { now: NOW, currency: 'USD' }).mark]).toEqual(['Marked incorrect', null]);
});

test.each([
  [null, 2, '–', '2 steps used a model without a price'],
  [null, 0, '–', 'No use of a model was reported'],
  [0.5, 1, '≥ $0.50', '1 step without a price not included'],
  [0, 0, '$0.00', '0 USD'],
])('a cost of %s with %s unpriced steps reads %s', (cost, unpriced, text, title) => {
  expect(costCell(cost, unpriced, 'USD')).toMatchObject({ text, title });
});

test('a trust below its threshold never looks passed', () => {
  expect(trustBar(0.749, 0.75, false)).toMatchObject({ tone: 'escalated', value: '0.749' });
  expect(trustBar(0.75, 0.75, false)).toMatchObject({ tone: 'good' });
  expect(trustBar(null, 0.75, true)).toMatchObject({ known: false, title: 'No step was weighed at a gate yet' });
});

test('a running run lasts until now, a run without a summary is still called something', () => {
  const row = runRow(runLine({ status: 'running', completed_at: null, summary: '  ' }), { now: NOW, currency: 'USD' });
  expect(row).toMatchObject({ live: true, duration: '5 m 00 s', summary: 'Run from alert_router without a summary' });
});

test('pages follow each other and keep the filters', () => {
  const runs = Array.from({ length: 50 }, () => runLine());
  const model = view({
    page: { runs, limit: 50, offset: 50, total: 137, next_cursor: null },
    filters: { page: 2, status: 'failed' },
  });
  expect(model).toMatchObject({
    range: '51–100 of 137',
    newer: '/ui/runs?status=failed',
    older: '/ui/runs?status=failed&page=3',
    news: '',
  });
  expect(
    view({ page: { runs, limit: 50, offset: 87, total: 137, next_cursor: null }, filters: { page: 3 } }).older,
  ).toBeNull();
  expect(view().older).toBeNull();
});

test('the first page asks for runs newer than its first one', () => {
  expect(view().news).toBe(
    '/ui/runs/news?after=2026-11-21T11%3A55%3A00.000Z&seen=7d1f0c9e-52c2-4b7e-9a51-3f8a0c6e1b20',
  );
});

test('every filter that is set is a chip that can be taken away', () => {
  expect(view({ filters: { page: 1, team: 'payments', status: 'failed' } }).bar.chips).toMatchObject([
    { label: 'Failed', href: '/ui/runs?team=payments' },
    { label: 'team: payments', href: '/ui/runs?status=failed' },
  ]);
});

test('the command for the first run is one that a shell understands', () => {
  const { curl } = firstRun('http://127.0.0.1:8000', { name: 'host-load', testing: true });
  expect(curl).toContain("'http://127.0.0.1:8000/webhook?source=generic&allow_testing=true'");
  expect(curl).toContain(`-d '{"pipeline":"host-load","summary":"My first run"}'`);
});

test('the address filters by label, agent, model and warnings, and drops what is no label', () => {
  const filters = readFilters({ label: 'team:payments', agent: 'a', model: 'm', warnings: 'true' });
  expect(toRunsQuery(filters, NOW)).toMatchObject({
    label: [{ key: 'team', value: 'payments' }],
    agent: 'a',
    model: 'm',
    warnings: true,
  });
  expect(view({ filters }).bar.chips.map(({ label }) => label)).toEqual([
    'label: team:payments',
    'agent: a',
    'model: m',
    'With warnings',
  ]);
  expect(readFilters({ label: 'nothing', warnings: 'yes', last: 'year', sort: 'colour' })).toEqual({ page: 1 });
});

test('the name of an alert is one more label, and a span of time moves with the clock', () => {
  const filters = readFilters({ alert: 'HighErrors', label: 'zone:eu', last: '24h', sort: '-cost' });
  expect(toRunsQuery(filters, NOW)).toMatchObject({
    label: [
      { key: 'alertname', value: 'HighErrors' },
      { key: 'zone', value: 'eu' },
    ],
    since: NOW - 86_400_000,
    sort: '-cost',
  });
  expect(toRunsQuery({ ...filters, since: '2026-11-20T00:00:00Z' }, NOW).since).toBe(
    Date.parse('2026-11-20T00:00:00Z'),
  );
  expect(view({ filters }).bar.chips.map(({ label }) => label)).toEqual([
    'alert: HighErrors',
    'label: zone:eu',
    'Last 24 hours',
  ]);
});

test('an order is no filter, and a sorted list does not announce newer runs', () => {
  const model = view({ filters: { page: 1, sort: '-cost' } });
  expect(model).toMatchObject({
    filtered: false,
    news: '',
    here: '/ui/runs?sort=-cost',
    list: '/ui/runs?sort=-cost',
    bar: { sorted: true, chips: [] },
  });
  expect(model.bar.orders.find(({ selected }) => selected)?.label).toBe('Highest cost first');
});

test('a run with warnings says how many', () => {
  expect(runRow({ ...runLine(), warning_count: 2 }, { now: 0, currency: 'USD' }).warnings).toBe('2 warnings');
  expect(runRow(runLine(), { now: 0, currency: 'USD' }).warnings).toBeNull();
});

test('an address that no filter understands is said on the page, not ignored', async () => {
  const { get } = await pagesWith({ lines: [runLine()] });
  const { body } = await get('/ui/runs?staus=failed&attention=closed&q=&stage=production&page=1');
  expect(body).toContain(
    'The address has &quot;staus&#x3D;failed&quot;, &quot;attention&#x3D;closed&quot;, which this page does not',
  );
  expect((await get('/ui/runs?status=failed&page=2')).body).not.toContain('does not understand');
});
