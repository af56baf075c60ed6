import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { teamsView } from './view.ts';

const team = (name: string | null, cost: number | null, budget: number | null) => ({
  team: name,
  runs: 3,
  cost,
  unpriced_steps: cost === null ? 2 : 0,
  input_tokens: 1000,
  output_tokens: 24,
  budget,
  budget_used_ratio: budget === null ? null : (cost ?? 0) / budget,
});
const USE = {
  month: '2026-11',
  currency: 'USD',
  teams: [
    team('payments', 60, 50),
    team('shop', 9, 10),
    team('sre', 1, 10),
    team('web', null, null),
    team(null, 2, null),
  ],
};
const HALF_OF_NOVEMBER = Date.parse('2026-11-16T00:00:00Z');

test('a team stands with its budget and its use, against how much of the month is over', () => {
  const { rows, month, day, passed } = teamsView(USE, HALF_OF_NOVEMBER);
  expect([month, day, passed]).toEqual(['November 2026', 'day 16 of 30', 50]);
  expect(rows.map(({ name, cost, budget, use }) => [name, cost, budget, use?.text, use?.look.word])).toEqual([
    ['payments', '$60.00', '$50.00', '120%', 'Over budget'],
    ['shop', '$9.00', '$10.00', '90%', 'Ahead of the month'],
    ['sre', '$1.00', '$10.00', '10%', 'Within budget'],
    ['web', '–', '–', undefined, undefined],
    ['No team', '$2.00', '–', undefined, undefined],
  ]);
  expect(rows[0]?.runsHref).toBe('/ui/runs?team=payments&stage=production&since=2026-11-01T00%3A00%3A00.000Z');
  expect(rows.at(-1)?.runsHref).toContain('teamless=true&stage=production');
  expect(rows[0]?.use?.width).toBe(100);
});

test('many teams are some pages', async () => {
  const teams = Array.from({ length: 400 }, (_, at) => team(`team-${at}`, 1, null));
  const { get } = await pagesWith({ statistics: { teams: async () => ({ ...USE, teams }) } });
  const { body } = await get('/ui/teams?page=3');
  expect(body.match(/<th scope="row">/g)).toHaveLength(100);
  expect(body).toContain('301–400 of 400');
  expect(body).toContain('href="/ui/teams?page&#x3D;2"');
  expect(body).toContain('400 teams');
});

test('the page shows them; without a team it says how to get one', async () => {
  const { get } = await pagesWith({ statistics: { teams: async () => USE } });
  expect((await get('/ui/teams')).body).toContain('Ahead of the month');
  const bare = await pagesWith();
  expect((await bare.get('/ui/teams')).body).toContain('pricing.team_budgets');
});
