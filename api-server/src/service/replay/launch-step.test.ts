import { afterEach, expect, test } from 'vitest';
import { sure } from '../../runs/fixtures/engine.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const start = async (options: ReplayOptions = {}) => {
  site = await startReplayServer({ agents: { investigator: () => sure(0.9) }, ...options });
};
const launch = (body: object, headers: Record<string, string> = {}) =>
  site.send('POST', '/steps/look/replay', {
    body: { bucket: 'current', candidate: { model: 'm2' }, mode: 'rerender', ...body },
    headers,
  });

test('a batch is one run of stage testing and source replay, its rows carry the edition of the candidate', async () => {
  await start();
  const { run } = await site.record();
  await site.record({ summary: 'the second alert' });
  const answer = await launch({ candidate: { prompt_template: 'say {{summary}}' } });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ status: 'completed', run_id: expect.any(String) });
  const batch = await site.world.ended(answer.body.run_id);
  expect(batch.run).toMatchObject({ stage: 'testing', source: 'replay', status: 'completed', team: null });
  expect(batch.steps.map(({ stepName }) => stepName)).toEqual(['look/0', 'look/1']);
  for (const step of batch.steps) {
    expect(step).toMatchObject({ agent: 'investigator', agentVersion: 'v1', status: 'completed' });
    expect(step.promptHash).not.toBe((await site.world.ended(run.id)).step('look').promptHash);
  }
  expect(batch.steps.map(({ rawResponse }) => rawResponse?.prompt)).toEqual([
    'say the second alert',
    'say the checkout is slow',
  ]);
});
