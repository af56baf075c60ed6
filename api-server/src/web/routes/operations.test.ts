import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RerunResult } from './operations.ts';
import { as, type SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

const RUN = runIdOf(1);
const NAMED = { source: 'generic', pipeline: 'checkout', severity: null, summary: null };
const STARTED: RerunResult = {
  kind: 'started',
  verdict: { status: 'accepted', runId: runIdOf(2), ...NAMED },
  fromStep: 'two',
  priorSteps: 3,
};

let server: TestServer;
let answer: RerunResult;
let asked: [string, string | null][];

beforeEach(async () => {
  asked = [];
  answer = STARTED;
  server = await startTestServer({
    deps: {
      rerun: (runId, fromStep) => {
        asked.push([runId, fromStep]);
        return Promise.resolve(answer);
      },
      schedules: () => [
        {
          pipeline: 'sweep',
          cron: '0 6 * * *',
          timezone: 'Etc/UTC',
          next_run: '2026-11-22T06:00:00.000Z',
          suspended: false,
        },
      ],
      artifact: (_run, step, name) =>
        Promise.resolve(step === 'report' && name === 'report.md' ? Buffer.from('<b>text</b>') : null),
    },
  });
});
afterEach(() => server.close());

const rerun = (payload: object | undefined, role: keyof typeof SECRETS = 'operator') =>
  server.app.inject({ method: 'POST', url: `/runs/${RUN}/rerun`, headers: as(role), payload });
const auditRows = async () => (await server.app.inject({ url: '/audit', headers: as('viewer') })).json().rows;

test('POST /runs/{run_id}/rerun answers 202 with the new run, and leaves an audit row', async () => {
  const response = await rerun({ from_step: 'two' });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toEqual({
    status: 'accepted',
    run_id: runIdOf(2),
    original_run_id: RUN,
    from_step: 'two',
    prior_steps_loaded: 3,
  });
  expect(await auditRows()).toMatchObject([
    { action: 'rerun', target: RUN, run_id: runIdOf(2), outcome: 'accepted', role: 'operator' },
  ]);
});

test.each([undefined, {}, { from_step: null }])('a rerun with the body %j begins at the start', async (payload) => {
  await rerun(payload);
  expect(asked).toEqual([[RUN, null]]);
});

test.each<[RerunResult, number, string]>([
  [{ kind: 'not_found' }, 404, 'not_found'],
  [{ kind: 'running' }, 409, 'conflict'],
  [{ kind: 'suspended' }, 409, 'conflict'],
  [{ kind: 'invalid', message: 'the pipeline has no top-level step "x" any more' }, 400, 'validation'],
  [
    {
      ...STARTED,
      verdict: {
        status: 'at_capacity',
        message: 'all slots are taken',
        activeRuns: 10,
        maxConcurrentRuns: 10,
        retryAfterSeconds: 5,
      },
    },
    429,
    'at_capacity',
  ],
])('a rerun that cannot be: %j', async (result, status, type) => {
  answer = result;
  const response = await rerun({ from_step: 'x' });
  expect([response.statusCode, response.json().detail.type]).toEqual([status, type]);
  if (status === 429)
    expect(response.json()).toEqual({
      detail: { type: 'at_capacity', message: 'all slots are taken' },
      active_runs: 10,
      max_concurrent_runs: 10,
    });
  expect(await auditRows()).toEqual([]);
});

test('GET /schedules names each schedule with its next run', async () => {
  const response = await server.app.inject({ url: '/schedules', headers: as('viewer') });
  expect(response.json()).toMatchObject({
    schedules: [{ pipeline: 'sweep', cron: '0 6 * * *', next_run: '2026-11-22T06:00:00.000Z' }],
  });
});

test('an artifact is plain text to every browser, whatever an agent wrote', async () => {
  const url = (name: string) => `/runs/${RUN}/artifacts?step=report&name=${name}`;
  const found = await server.app.inject({ url: url('report.md'), headers: as('viewer') });
  expect([found.statusCode, found.body]).toEqual([200, '<b>text</b>']);
  expect(found.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  expect((await server.app.inject({ url: url('other'), headers: as('viewer') })).statusCode).toBe(404);
});
