import { resolveSet, UNRESTRICTED } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sure } from '../../runs/fixtures/engine.ts';
import { LOOK, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
beforeEach(async () => {
  site = await startReplayServer({ agents: { investigator: () => sure(0.9) } });
});
afterEach(() => site.close());

/** As a reload would. */
function load(name: string, text: string, standing = UNRESTRICTED): void {
  const operator = { allow_shell_checks: true };
  const [pipeline] = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [], operator }).pipelines;
  if (!pipeline) throw new Error('the pipeline does not resolve');
  site.world.pipelines.set(name, { ...pipeline, standing, match: null });
}

const actor = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;
const named = (name: string) => LOOK.replace('name: checkout', `name: ${name}`);

const THEIRS = { ...UNRESTRICTED, namespace: 'shop', admitted: false };
test.each([
  ['whose pipeline is of another author now', () => load('checkout', LOOK, THEIRS)],
  ['whose pipeline was removed', () => site.world.pipelines.delete('checkout')],
  ['that was renamed', () => load('checkout', LOOK.replace('name: look', 'name: looks'))],
])('a step of a golden set %s is not judged by the step of another author', async (_, change) => {
  const { run } = await site.record();
  const set = (await site.send('POST', '/golden-sets', { body: { name: 'triage', step_name: 'look' } })).body.id;
  await site.send('POST', `/golden-sets/${set}/members`, { body: { run_id: run.id, step_name: 'look' } });
  const replay = () =>
    site.services.replays.beginOnSet(set, { candidate: {} }, { key: null, actor, signal: AbortSignal.timeout(60_000) });
  load('theirs', named('theirs'), THEIRS);
  change();
  await expect(replay()).rejects.toThrow('no definition of step "look" is known');
  load('ours', named('ours'));
  expect(await replay()).toEqual(expect.any(String));
});
