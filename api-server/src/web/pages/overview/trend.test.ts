import { expect, test } from 'vitest';
import { trendView } from './trend.ts';

const DAY = 86_400_000;
const BEGIN = Date.parse('2026-11-01T00:00:00Z');
const day = (at: number, values: object = {}) => ({
  from: BEGIN + at * DAY,
  runs: 0,
  escalated: 0,
  failed: 0,
  cost: null,
  ...values,
});
const days = (busy: Record<number, object>) => Array.from({ length: 14 }, (_, at) => day(at, busy[at]));

test('runs, escalations and cost stand by day, each bar leads to its runs', () => {
  const [runs, escalated, cost] = trendView(days({ 1: { runs: 4 }, 13: { runs: 2, escalated: 1, cost: 0.5 } }), 'USD');
  expect(runs).toMatchObject({ figure: '6', note: 'in 13 days, today 2' });
  expect(runs?.bars).toHaveLength(13);
  expect(runs?.bars[0]).toMatchObject({ height: 40, y: 0 });
  expect(escalated?.bars.at(-1)).toMatchObject({
    title: '2026-11-14: 1',
    href: '/ui/runs?since=2026-11-14T00%3A00%3A00.000Z&until=2026-11-15T00%3A00%3A00.000Z&status=escalated',
  });
  expect(cost).toMatchObject({ figure: '$0.50', look: 'second' });
});

test('a young history shows a week, one without a run nothing, and one without a price a dash', () => {
  const [runs, , cost] = trendView(days({ 13: { runs: 1 } }), 'USD');
  expect(runs?.bars).toHaveLength(7);
  expect(cost).toMatchObject({ figure: '–', note: 'nothing has a price' });
  expect(trendView(days({}), 'USD')).toEqual([]);
});
