import { expect, test } from 'vitest';
import { fakeStatistics, runSum, statisticsOf } from '../fixtures/statistics.ts';
import { readQuery } from './filters.ts';
import { groupsOf } from './groups.ts';

test('rows are made of the busiest teams only, runs without a team among the others', async () => {
  const ended = Array.from({ length: 400 }, (_, at) => runSum({ team: at === 0 ? null : `team-${at}`, runs: at }));
  const query = readQuery({});
  const { insights: ask } = { ...fakeStatistics, ...statisticsOf({ ended }) };
  const insights = await ask(query, new AbortController().signal);
  let rows = 0;
  for (const team of insights.pipelines.flatMap(({ teams }) => teams)) {
    const { tokens } = team;
    Object.defineProperty(team, 'tokens', { get: () => ((rows += 1), tokens) });
  }
  const [teams] = groupsOf(insights, { query, scope: {} });
  expect([teams?.rows.length, teams?.left, teams?.rows[0]?.name, teams?.rows[0]?.count]).toEqual([
    50,
    '350',
    'team-399',
    '399',
  ]);
  expect(rows).toBe(50);
});
