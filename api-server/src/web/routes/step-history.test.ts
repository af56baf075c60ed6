import { promptHash } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepDefinition } from '../../store/tables/run-writes.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const get = async (url: string) => {
  const answer = await server.app.inject({ url, headers: as('viewer') });
  return { status: answer.statusCode, body: answer.json<Record<string, never>>() };
};

/** A run whose step said 0.8, marked through the API; `at` numbers it. */
async function marked(at: number, outcome: string, values: object = {}): Promise<void> {
  const id = await server.store.addRun(at);
  await server.store.addStep(id, 'look', values);
  const payload = { outcome };
  await server.app.inject({ method: 'POST', url: `/runs/${id}/steps/look/feedback`, headers: as('operator'), payload });
}

test('GET /steps/{name}/calibration: buckets with all their bins, the one with most marks first', async () => {
  await marked(1, 'incorrect');
  await marked(2, 'correct', { agent_version: 'v2' });
  await marked(3, 'partial', { agent_version: 'v2' });
  const { status, body } = await get('/steps/look/calibration');
  expect(status).toBe(200);
  const key = { agent: 'investigator', provider: 'demo', model: 'demo/scripted', prompt_hash: 'p1' };
  expect(body).toMatchObject({
    step_name: 'look',
    buckets: [
      { ...key, agent_version: 'v2', total_n: 2, recommendation: null },
      { ...key, agent_version: 'v1', total_n: 1, recommendation: null },
    ],
  });
  const [{ bins }] = body['buckets'] as unknown as [{ bins: unknown[] }];
  expect(bins).toHaveLength(10);
  expect(bins[8]).toEqual({ lo: 0.8, hi: 0.9, n: 2, mean_label: 0.75, mean_confidence: 0.8, validated: false });
  expect(bins[0]).toEqual({ lo: 0, hi: 0.1, n: 0, mean_label: null, mean_confidence: null, validated: false });
});

test('bin_width and n_min of the query hold instead of the configured ones', async () => {
  await marked(1, 'incorrect');
  const { body } = await get('/steps/look/calibration?bin_width=0.25&n_min=1');
  expect(body['buckets']).toMatchObject([
    {
      bins: [{ lo: 0, hi: 0.25 }, { validated: false }, {}, { lo: 0.75, hi: 1, n: 1, mean_label: 0, validated: true }],
      recommendation: 'Runs that say about 0.8 are correct only in 0% of 1 marked cases.',
    },
  ]);
});

test('a mark counts at the next look', async () => {
  await marked(1, 'incorrect');
  const first = await get('/steps/look/calibration');
  expect(first.body['buckets']).toMatchObject([{ total_n: 1 }]);
  await marked(2, 'correct');
  const second = await get('/steps/look/calibration');
  expect(second.body['buckets']).toMatchObject([{ total_n: 2 }]);
});

test('a step that nobody marked has no buckets', async () => {
  expect(await get('/steps/nobody/calibration')).toEqual({ status: 200, body: { step_name: 'nobody', buckets: [] } });
});

test.each([
  'bin_width=0.3',
  'bin_width=0',
  'bin_width=2',
  'bin_width=1e-1',
  'bin_width=',
  'n_min=0',
  'n_min=x',
  'bins=3',
])('the query %s is refused', async (query) => {
  const { status, body } = await get(`/steps/look/calibration?${query}`);
  expect(status).toBe(400);
  expect(body).toMatchObject({ detail: { type: 'validation' } });
});

test('GET /steps/{name}/versions: newest first, with text, times, counts, diff and calibration', async () => {
  const [old, fresh] = ['Look.\n', 'Look well.\n'].map((template) => ({ template, hash: promptHash(template) }));
  if (!old || !fresh) throw new Error('two templates');
  const body = (template: string) =>
    JSON.stringify({ steps: [{ executor: 'gateway', agent: 'a', prompt_template: template }] });
  const kept = [old, fresh].map(({ template, hash }) => ({ hash, kind: 'Pipeline', name: 'p', body: body(template) }));
  for (const definition of kept)
    await server.store.database.write((tx) => keepDefinition(tx, { ...definition, stored_at: 1 }));
  await marked(1, 'correct', { prompt_hash: old.hash });
  await marked(2, 'partial', { prompt_hash: fresh.hash, started_at: NOW + 1_000 });
  await server.store.addStep(await server.store.addRun(3), 'look', {
    prompt_hash: fresh.hash,
    started_at: NOW + 2_000,
  });
  const { status, body: answer } = await get('/steps/look/versions');
  expect(status).toBe(200);
  expect(answer).toMatchObject({
    step_name: 'look',
    versions: [
      {
        prompt_hash: fresh.hash,
        template: fresh.template,
        first_seen_at: '2026-11-21T12:00:01.000Z',
        last_seen_at: '2026-11-21T12:00:02.000Z',
        runs_total: 2,
        labelled_n: 1,
        diff_from_previous: `--- ${old.hash}\n+++ ${fresh.hash}\n@@ -1,1 +1,1 @@\n-Look.\n+Look well.\n`,
        calibration: [{ prompt_hash: fresh.hash, total_n: 1 }],
      },
      { prompt_hash: old.hash, diff_from_previous: null, labelled_n: 1, calibration: [{ prompt_hash: old.hash }] },
    ],
  });
});

test('a name under which nothing ever ran has no versions: 404', async () => {
  const { status, body } = await get('/steps/nobody/versions');
  expect(status).toBe(404);
  expect(body).toMatchObject({ detail: { type: 'not_found' } });
});
