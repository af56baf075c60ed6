import { describe, expect, test } from 'vitest';
import { postgresBinaries } from '../../api-server/src/store/fixtures/postgres-binaries.ts';
import { type Kind, openDatabases } from './databases.ts';
import { runAll, shortPlan } from './plan.ts';
import { runRound, tracePoints } from './round.ts';

/** Every effect that a pipeline of every shape has: `failpoints.ts` kills at each of their occurrences. */
const EXPECTED = [
  'runs.insert',
  'runs.update',
  'runs.end',
  'step_executions.insert',
  'step_executions.end',
  'run_events.insert',
  'approvals.insert',
  'approvals.update',
  'audit.insert',
  'notifications.insert',
  'notifications.update',
  'schedule_fires.insert',
  'gateway',
  'http',
  'shell',
];

async function killAtEach(kind: Kind, stems?: readonly string[]) {
  await using databases = await openDatabases(kind);
  const plan = shortPlan(await tracePoints(databases.fresh));
  const rounds = plan.filter(([first]) => stems === undefined || stems.some((stem) => first === `${stem}.before`));
  const violations: string[] = [];
  let deaths = 0;
  await runAll(rounds, {
    atATime: 2,
    run: async (kills) => {
      const report = await runRound({ database: databases.fresh, kills });
      deaths += report.died;
      violations.push(...report.violations.map((line) => `${kills.join(', ')}: ${line}`));
    },
  });
  return { names: plan.map(([first = '']) => first.replace(/\.before$/, '')), rounds, deaths, violations };
}

describe('a service that is killed before and after every commit and every call', () => {
  test('loses no run, repeats no completed step and counts everything once', async () => {
    const { names, rounds, deaths, violations } = await killAtEach('sqlite');
    expect(names).toEqual(expect.arrayContaining(EXPECTED));
    expect(violations).toEqual([]);
    expect(deaths).toBeGreaterThanOrEqual(rounds.length);
  });

  test.runIf(postgresBinaries() !== null)('does so on Postgres', async () => {
    const core = [
      'runs.insert',
      'step_executions.insert',
      'step_executions.end',
      'runs.end',
      'approvals.update',
      'gateway',
    ];
    const { deaths, violations } = await killAtEach('postgres', core);
    expect(violations).toEqual([]);
    expect(deaths).toBeGreaterThanOrEqual(core.length);
  });
});
