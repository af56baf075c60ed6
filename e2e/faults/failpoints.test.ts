import { describe, expect, test } from 'vitest';
import { postgresBinaries } from '../../api-server/src/store/fixtures/postgres-binaries.ts';
import { type Kind, openDatabases } from './databases.ts';
import { shortPlan } from './plan.ts';
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

/** A machine with other work takes its time to start a service so often. */
const TIMEOUT_MS = 1_200_000;

async function killAtEach(kind: Kind, wanted: (point: string) => boolean) {
  await using databases = await openDatabases(kind);
  const points = shortPlan(await tracePoints(databases.fresh));
  const kills = points.filter(wanted);
  return { points, kills, ...(await runRound({ database: databases.fresh, kills })) };
}

describe('a service that is killed before and after every commit and every call', { timeout: TIMEOUT_MS }, () => {
  test('loses no run, repeats no completed step and counts everything once', async () => {
    // The job that makes runs findable writes there only where it looks at the right moment.
    const always = (point: string) => !/^(unsearched|run_days)\./.test(point);
    const { points, kills, died, missed, violations } = await killAtEach('sqlite', always);
    expect(points).toEqual(expect.arrayContaining(EXPECTED.flatMap((name) => [`${name}.before`, `${name}.after`])));
    expect(violations).toEqual([]);
    expect({ died, missed }).toEqual({ died: kills.length, missed: [] });
  });

  test.runIf(postgresBinaries() !== null)('does so on Postgres', async () => {
    const core = /^(runs\.insert|step_executions|runs\.end|approvals\.update|gateway)/;
    const { kills, died, violations } = await killAtEach('postgres', (point) => core.test(point));
    expect(violations).toEqual([]);
    expect(died).toBe(kills.length);
  });
});
