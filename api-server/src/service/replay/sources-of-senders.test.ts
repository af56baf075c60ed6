import { afterEach, expect, test } from 'vitest';
import { sure } from '../../runs/fixtures/engine.ts';
import { labelledExecutions } from '../../store/aggregates/calibration.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

const open: ReplayServer[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const start = async (options: ReplayOptions = {}): Promise<ReplayServer> => {
  const site = await startReplayServer({ agents: { investigator: () => sure(0.9) }, ...options });
  open.push(site);
  return site;
};

/** What production is judged by: statistics, calibration, readiness, the marking queue, what a team spends, what can be pinned. */
const FIGURES = [
  '/stats/pipelines?time_range=all',
  '/pipelines/checkout/stats?time_range=all',
  '/steps/look/stats?time_range=all',
  '/steps/look/models?time_range=all',
  '/steps/look/calibration',
  '/pipelines/checkout/promotion-readiness',
  '/metrics',
];
const withoutTimes = (text: string) =>
  text
    .split('\n')
    .filter((line) => !/^(#|process_|nodejs_)|duration_seconds/.test(line))
    .join('\n')
    .replace(/"[a-z_]*_at":"[^"]*"/g, '')
    .replace(/"(duration_seconds|avg|p95)":[0-9.]+/g, '');

/** The figures of three marked runs, one of them marked as incorrect, and one that waits for a mark, whose alerts name this source. */
async function figures(source: string) {
  const site = await start({ pricing: [{ provider: 'p', model: 'm', inputPerMtok: 1, outputPerMtok: 1 }] });
  const context = { source, summary: 'errors' };
  for (const mark of ['correct', 'incorrect', 'correct', null] as const) await site.record(context, mark);
  await site.world.uses.flush();
  const answers = await Promise.all(FIGURES.map((url) => site.send('GET', url)));
  const labelled = await labelledExecutions(site.world.database.db, 'look', 'production');
  const { body: marking } = await site.send('GET', '/marking');
  return {
    statuses: answers.map(({ status }) => status),
    figures: answers.map(({ text }) => withoutTimes(text)),
    labelled: labelled.map(({ label, n }) => `${label} x ${n}`).toSorted(),
    toMark: marking.steps.length,
  };
}

test.each(['replay', 'regression'])('an alert that calls its source %s counts like any other', async (source) => {
  const hidden = await figures(source);
  const seen = await figures('generic');
  expect(seen.statuses).toEqual(FIGURES.map(() => 200));
  expect(seen).toMatchObject({ labelled: ['0 x 1', '1 x 2'], toMark: 1 });
  expect(hidden).toEqual(seen);
});

test('an answer to an alert that calls its source replay can be pinned, and the result of a replay cannot', async () => {
  const site = await start();
  const { run } = await site.record({ source: 'replay' });
  const report = await site.replay();
  const set = await site.send('POST', '/golden-sets', { body: { name: 'set', step_name: 'look' } });
  const pin = (run_id: string, step_name: string) =>
    site.send('POST', `/golden-sets/${set.body.id}/members`, { body: { run_id, step_name } });
  expect((await pin(run.id, 'look')).status).toBe(201);
  await site.mark(report.run_id, 'look/0', 'correct');
  const refused = await pin(report.run_id, 'look/0');
  expect([refused.status, refused.body.detail.message]).toEqual([422, expect.stringContaining('result of a replay')]);
});
