import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunRequest } from '../../runs/state/new-run.ts';
import type { Verdict } from '../../triggers/model.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';
import { as } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

const RUN = runIdOf(1);
const NAMED = { source: 'generic', pipeline: 'checkout', severity: null, summary: null };
const STARTED: Verdict = { status: 'accepted', runId: runIdOf(2), ...NAMED };
const STEPS = `steps:
  - {name: one, executor: gateway, agent: a, prompt_template: One}
  - {name: two, executor: gateway, agent: a, prompt_template: Two}
`;

let server: DefinitionServer;
let answer: Verdict;
let asked: Omit<RunRequest, 'dedupKey'>[];

beforeEach(async () => {
  asked = [];
  answer = STARTED;
  server = await startDefinitionServer({
    fill: (disk) => {
      disk.write('pipelines/checkout.yaml', `name: checkout\n${STEPS}`);
      disk.write('pipelines/paused.yaml', `name: paused\nsuspend: true\n${STEPS}`);
    },
    deps: {
      intake: async (requests, alongside) => {
        asked.push(...requests);
        const decided = requests.map(({ context }) => ({ verdict: answer, context, coveredBy: [] }));
        await server.store.database.write(async (tx) => alongside?.(tx, decided));
        return [answer];
      },
      listSchedules: () => [
        {
          pipeline: 'sweep',
          cron: '0 6 * * *',
          timezone: 'Etc/UTC',
          next_run: '2026-11-22T06:00:00.000Z',
          suspended: false,
        },
      ],
      artifacts: {
        read: (_run, step, name) =>
          Promise.resolve(step === 'report' && name === 'report.md' ? Buffer.from('<b>text</b>') : null),
      },
    },
  });
  const run = await server.store.addRun(1, { pipeline_name: 'checkout' });
  await server.store.addStep(run, 'one');
  await server.store.addRun(3, { pipeline_name: 'checkout', status: 'running', completed_at: null });
  await server.store.addRun(4, { pipeline_name: 'paused' });
});
afterEach(() => server.close());

const rerun = (payload: object | undefined, id = RUN) =>
  server.app.inject({ method: 'POST', url: `/runs/${id}/rerun`, headers: as('operator'), payload });
const auditRows = async () => (await server.app.inject({ url: '/audit', headers: as('viewer') })).json().rows;

test('POST /runs/{run_id}/rerun answers 202 with the new run, and leaves an audit row', async () => {
  const response = await rerun({ from_step: 'two' });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toEqual({
    status: 'accepted',
    run_id: runIdOf(2),
    original_run_id: RUN,
    from_step: 'two',
    prior_steps_loaded: 1,
  });
  expect(asked).toMatchObject([{ rerunOf: RUN, team: null, prior: [{ stepName: 'one' }] }]);
  expect(await auditRows()).toMatchObject([
    { action: 'rerun', target: RUN, run_id: runIdOf(2), outcome: 'accepted', role: 'operator' },
  ]);
});

test.each([undefined, {}, { from_step: null }])('a rerun with the body %j begins at the start', async (payload) => {
  await rerun(payload);
  expect(asked).toMatchObject([{ rerunOf: RUN, prior: [] }]);
});

test.each([
  ['an unknown run', runIdOf(9), {}, 404, 'not_found'],
  ['a run that has not ended', runIdOf(3), {}, 409, 'conflict'],
  ['a suspended pipeline', runIdOf(4), {}, 409, 'conflict'],
  ['a step that is not there', RUN, { from_step: 'x' }, 400, 'validation'],
])('a rerun of %s is refused and starts nothing', async (_name, id, body, status, type) => {
  const response = await rerun(body, id);
  expect([response.statusCode, response.json().detail.type, asked]).toEqual([status, type, []]);
  expect(await auditRows()).toEqual([]);
});

test('a rerun without room answers 429 with the load and when to try again', async () => {
  const load = { activeRuns: 10, maxConcurrentRuns: 10, retryAfterSeconds: 5 };
  answer = { status: 'at_capacity', message: 'all slots are taken', ...load };
  const response = await rerun({});
  expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '5']);
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
