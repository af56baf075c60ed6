import { expect, test } from 'vitest';
import { runSum, stepSum } from '../web/pages/fixtures/statistics.ts';
import { allPipelineStats, figuresOf } from './pipeline-stats.ts';
import { teamsUse } from './teams.ts';

/** Runs and steps of many teams, which count how often their team is looked at. */
function counted() {
  const reads = { n: 0 };
  const of = <T extends object>(sum: T, at: number): T =>
    Object.defineProperty(sum, 'team', { get: () => ((reads.n += 1), at === 0 ? null : `team-${at}`) });
  const ended = Array.from({ length: 300 }, (_, at) => of(runSum({ runs: at }), at));
  const steps = Array.from({ length: 300 }, (_, at) => of(stepSum({ inputTokens: at }), at));
  return { reads, facts: { ended, active: [], steps, percentiles: [], marks: [] } };
}

test('the sums of teams are looked at once, however many teams there are', () => {
  const { reads, facts } = counted();
  const teams = allPipelineStats(facts, 'USD')[0]?.teams;
  expect(teams?.slice(-2)).toMatchObject([
    { team: 'team-99', runs_total: 99, tokens: { input: 99 } },
    { team: null, runs_total: 0, tokens: { input: 0 } },
  ]);
  const use = teamsUse({ runs: facts.ended, steps: facts.steps }, { 'team-7': 2, idle: 1 }, 'USD');
  expect(use.map(({ team, runs, input_tokens: input }) => [team, runs, input]).slice(0, 2)).toEqual([
    ['idle', 0, 0],
    ['team-1', 1, 1],
  ]);
  expect(use.find(({ team }) => team === 'team-7')).toMatchObject({ runs: 7, input_tokens: 7, budget: 2 });
  expect(reads.n).toBe(2 * 600);
});

test('the figures of all pipelines together are made without teams', () => {
  const { reads, facts } = counted();
  expect(figuresOf(facts, 'USD')).toMatchObject({ runs_total: (300 * 299) / 2 });
  expect(reads.n).toBe(0);
});
