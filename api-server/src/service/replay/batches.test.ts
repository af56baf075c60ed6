import { afterEach, expect, test } from 'vitest';
import { type Script, sure } from '../../runs/fixtures/engine.ts';
import { type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const start = async (safeAgents?: string[], investigator: Script = () => sure(0.9)) => {
  const replay = safeAgents === undefined ? {} : { safeAgents };
  site = await startReplayServer({ agents: { investigator }, replay });
};
const BODY = { bucket: 'current', candidate: { model: 'm2' }, mode: 'rerender' };
const list = async (query = '') => (await site.send('GET', `/replays${query}`, { role: 'viewer' })).body.replays;
const ended = (runId: string) => site.replays.settled(runId, AbortSignal.timeout(20_000));

/** A golden set of the executions of these runs. */
async function pinned(runIds: string[]): Promise<string> {
  const { body } = await site.send('POST', '/golden-sets', { body: { name: 'misread', step_name: 'look' } });
  for (const run_id of runIds)
    await site.send('POST', `/golden-sets/${body.id}/members`, { body: { run_id, step_name: 'look' } });
  return body.id as string;
}

test('a batch that was started is answered at once, and the list tells how far each one is', async () => {
  await start();
  await site.record();
  await site.record();
  const answer = await site.send('POST', '/steps/look/replay/start', { body: BODY });
  expect([answer.status, answer.body.status]).toEqual([202, 'accepted']);
  const runId = answer.body.run_id as string;
  await ended(runId);
  expect(await list()).toEqual([
    expect.objectContaining({
      run_id: runId,
      kind: 'step',
      step_name: 'look',
      candidate: { model: 'm2' },
      source: 'replay',
      status: 'completed',
      samples: 2,
      attempted: 2,
    }),
  ]);
  const later = (await site.send('POST', '/steps/look/replay/start', { body: BODY })).body.run_id as string;
  await ended(later);
  expect((await list()).map(({ run_id }: { run_id: string }) => run_id)).toEqual([later, runId]);
  expect(await list(`?before=${later}`)).toMatchObject([{ run_id: runId }]);
  expect(await list('?limit=1')).toMatchObject([{ run_id: later }]);
  expect(await list('?step=other')).toEqual([]);
});

test('a golden set is replayed with the labels that were pinned, and a candidate that got worse regressed', async () => {
  await start();
  const runs = [await site.record(), await site.record()].map(({ run }) => run.id);
  const set = await pinned(runs);
  await site.mark(runs[0] as string, 'look', 'incorrect');
  const body = { candidate: { prompt_template: 'say nothing of {{summary}}' } };
  const answer = await site.send('POST', `/golden-sets/${set}/replay`, { body });
  expect(answer.status).toBe(202);
  const runId = answer.body.run_id as string;
  await ended(runId);
  expect(await site.report(runId)).toMatchObject({ recorded_accuracy: 1, candidate_total_n: 2, mode: 'rerender' });
  await site.mark(runId, 'look/0', 'incorrect');
  expect(await site.report(runId)).toMatchObject({ regressed: 1, label_divergences: [{ pinned_label: 1 }] });
  expect(await list()).toMatchObject([{ regressed: 1, improved: 0, unchanged: 0, failed: 0 }]);
  expect(site.world.calls.at(-1)?.input).toMatch(/^say nothing of /);
});

test('two starts with one Idempotency-Key are one batch, also of a golden set; another body under it is 409', async () => {
  await start();
  const { run } = await site.record();
  const set = await pinned([run.id]);
  for (const [url, body] of [
    ['/steps/look/replay/start', BODY],
    [`/golden-sets/${set}/replay`, { candidate: { model: 'm2' } }],
  ] as const) {
    const headers = { 'idempotency-key': url };
    const post = (sent: object) => site.send('POST', url, { body: sent, headers });
    const both = await Promise.all([post(body), post(body)]);
    expect(both.map(({ status }) => status)).toEqual([202, 202]);
    expect(both[0]?.body).toEqual(both[1]?.body);
    await ended(both[0]?.body.run_id);
    const other = await post({ ...body, candidate: { model: 'm3' } });
    expect([other.status, other.body.detail.type]).toEqual([409, 'conflict']);
  }
  expect(await list()).toHaveLength(2);
});

test('an empty, an archived and an unknown set are refused, and so is a bucket without marks', async () => {
  await start();
  const run = await site.record({}, null);
  const replay = async (id: string) =>
    (await site.send('POST', `/golden-sets/${id}/replay`, { body: { candidate: {} } })).status;
  const set = await pinned([]);
  expect(await replay(set)).toBe(409);
  await site.send('POST', `/golden-sets/${set}/archive`);
  expect(await replay(set)).toBe(409);
  expect(await replay(run.run.id)).toBe(404);
  expect((await site.send('POST', '/steps/look/replay/start', { body: BODY })).status).toBe(422);
});

test('a set that is archived while it is replayed comes to its report, and is not replayed again', async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<undefined>();
  await start(undefined, async ({ model }) => {
    if (model === 'm2') await held;
    return sure(0.9);
  });
  const { run } = await site.record();
  const set = await pinned([run.id]);
  const replay = () => site.send('POST', `/golden-sets/${set}/replay`, { body: { candidate: { model: 'm2' } } });
  const runId = (await replay()).body.run_id as string;
  expect((await site.send('POST', `/golden-sets/${set}/archive`)).status).toBe(200);
  letGo(undefined);
  expect(await ended(runId)).toBe('completed');
  expect(await site.report(runId)).toMatchObject({
    candidate_total_n: 1,
    rows: [{ status: 'completed', recorded_label: 1 }],
  });
  const again = await replay();
  expect([again.status, again.body.detail]).toEqual([
    409,
    { type: 'conflict', message: 'the golden set is archived; restore it first' },
  ]);
});

test('while replay is off nothing starts, whatever the body says', async () => {
  await start([]);
  const { run } = await site.record();
  const set = await pinned([run.id]);
  expect((await site.send('POST', `/golden-sets/${set}/replay`, { body: {} })).status).toBe(403);
  expect((await site.send('POST', '/steps/look/replay/start', { body: {} })).status).toBe(403);
  expect(await list()).toEqual([]);
});
