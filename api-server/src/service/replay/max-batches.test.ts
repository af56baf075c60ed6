import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hang, sure } from '../../runs/fixtures/engine.ts';
import { type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
beforeEach(async () => {
  const investigator = (call: Parameters<typeof hang>[0]) => (call.model === 'm2' ? hang(call) : sure(0.9));
  site = await startReplayServer({ agents: { investigator }, replay: { maxBatches: 1 } });
});
afterEach(() => site.close());

const launch = (key = 'one', path = 'replay/start') =>
  site.send('POST', `/steps/look/${path}`, {
    body: { bucket: 'current', candidate: { model: 'm2' }, mode: 'rerender' },
    headers: { 'idempotency-key': key },
  });

test('a launch beyond replay.max_batches is refused until a replay has ended', async () => {
  await site.record();
  const first = await launch();
  expect(first.status).toBe(202);
  for (const path of ['replay/start', 'replay']) {
    const { status, body } = await launch('two', path);
    expect([status, body]).toEqual([
      429,
      {
        detail: { type: 'at_capacity', message: '1 of 1 replays wait or run (replay.max_batches)' },
        active_runs: 1,
        max_concurrent_runs: 1,
      },
    ]);
  }
  expect((await site.send('GET', '/replays')).body.replays).toHaveLength(1);
  await site.send('POST', `/runs/${first.body.run_id}/cancel`);
  await site.replays.settled(first.body.run_id, AbortSignal.timeout(60_000));
  expect((await launch('three')).status).toBe(202);
});

test('a scheduled replay needs no place and takes none', async () => {
  const { step } = await site.record();
  const scheduled = () =>
    site.replays.start({
      stepName: 'look',
      samples: [{ stepId: step('look').id }],
      candidate: { model: 'm2' },
      mode: 'rerender',
      source: 'regression',
      base: 'recorded',
    });
  await scheduled();
  expect((await launch()).status).toBe(202);
  expect(await scheduled()).toEqual(expect.any(String));
});

test('the same launch finds its batch where no place is left', async () => {
  await site.record();
  const waiting = [launch('one', 'replay'), launch('one', 'replay')];
  await vi.waitFor(async () => expect((await site.send('GET', '/replays')).body.replays).toHaveLength(1), 60_000);
  const [{ run_id }] = (await site.send('GET', '/replays')).body.replays;
  await site.send('POST', `/runs/${run_id}/cancel`);
  for (const { status, body } of await Promise.all(waiting))
    expect([status, body]).toEqual([200, { status: 'cancelled', run_id }]);
});
