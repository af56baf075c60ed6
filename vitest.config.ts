import { defineConfig } from 'vitest/config';

/**
 * None of these is expected to pass: they bound how long something that hangs is waited for, on a machine that a test shares
 * with others. What should be quick is said in its test, of the time that it computes.
 */
const patience = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Tests that start processes, browsers or databases: one file after the other, with time to start them. */
const acrossProcesses = {
  ...patience,
  pool: 'forks' as const,
  fileParallelism: false,
};

/** The same for tests that mostly wait, for leases, leaders and clocks: after the units, and two at a time. */
const waiting = { ...patience, pool: 'forks' as const, sequence: { groupOrder: 1 } };

const unit = (name: string) => ({
  test: {
    name,
    include: [`${name}/src/**/*.test.ts`],
    exclude: ['**/*.{browser,postgres}.test.ts'],
    ...patience,
  },
});

/** What meets the database, once more on Postgres; `*.postgres.test.ts` is about nothing else. */
const onPostgres = {
  name: 'postgres',
  include: [
    'api-server/src/store/**/*.test.ts',
    'api-server/src/triggers/intake*.test.ts',
    'api-server/src/runs/*/{approvers,engine,evidence,groups,human-step,rerun,tool-approval}.test.ts',
    'api-server/src/chat/*.test.ts',
    'api-server/src/notify/{sender,service}.test.ts',
    'api-server/src/schedules/*.test.ts',
    'api-server/src/service/replay/*.test.ts',
    'api-server/src/service/runs/rerun.test.ts',
    'api-server/src/web/{routes,auth}/{accuracy,agent-versions,approvals,audit,bad-input,definition-writes,deliveries,exports,feedback,golden-sets,notifications,readiness,readiness-preview,regressions,roles,runs,runs-sort,schedules,service,statistics,step-history,step-statistics,stream,webhook,withdrawn-marks}.test.ts',
  ],
  exclude: ['**/*.sqlite.test.ts'],
  globalSetup: 'api-server/src/store/fixtures/shared-postgres.ts',
  ...patience,
  testTimeout: 400_000,
  hookTimeout: 400_000,
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      unit('crds'),
      unit('gateway'),
      { test: { ...unit('api-server').test, globalSetup: 'api-server/src/store/fixtures/shared-sqlite.ts' } },
      unit('controller'),
      { test: onPostgres },
      {
        test: {
          name: 'checks',
          include: ['e2e/{bundle,checks,support,demo,fuzz}/**/*.test.ts', 'config/**/*.test.ts'],
          exclude: ['e2e/bundle/first-process.test.ts'],
          ...patience,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['api-server/src/**/*.browser.test.ts', 'e2e/browser/**/*.test.ts'],
          ...acrossProcesses,
        },
      },
      { test: { name: 'attacks', include: ['e2e/attacks/**/*.test.ts'], ...acrossProcesses } },
      { test: { name: 'local', include: ['e2e/local/**/*.test.ts'], ...acrossProcesses } },
      { test: { name: 'container', include: ['e2e/bundle/first-process.test.ts'], ...acrossProcesses } },
      { test: { name: 'alertmanager', include: ['e2e/alertmanager/**/*.test.ts'], ...acrossProcesses } },
      { test: { name: 'charts', include: ['e2e/charts/**/*.test.ts'], ...acrossProcesses } },
      { test: { name: 'control-plane', include: ['e2e/control-plane/**/*.test.ts'], ...waiting } },
      { test: { name: 'faults', include: ['e2e/{bench,crash,faults,gateway,shim}/**/*.test.ts'], ...waiting } },
    ],
  },
});
