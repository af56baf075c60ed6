import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { checkoutPipeline, openReplaySite, type ReplaySite } from '../support/replay-site.ts';
import { ROOT } from '../support/start-service.ts';

let site: ReplaySite;
let repository = '';

/** A repository of definitions, as a team keeps it. */
beforeAll(async () => {
  site = await openReplaySite();
  repository = join(site.dir, 'definitions');
  mkdirSync(join(repository, 'pipelines'), { recursive: true });
  git('init', '--quiet');
  commit('restart');
});
afterAll(() => site?.close());

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: repository });

function commit(action: string): void {
  writeFileSync(join(repository, 'pipelines/checkout.yaml'), checkoutPipeline(action));
  git('add', '.');
  git('commit', '--quiet', '--allow-empty', '-m', `Answer ${action}`);
}

function command(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'api-server/replay.mjs'), ...args], {
    cwd: repository,
    env: {
      PATH: process.env['PATH'],
      SIGNALBOX_URL: site.apiServer.url,
      SIGNALBOX_TOKEN: site.tokens.operator,
      ...env,
    },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

const GATE = ['--golden-set', 'misread', '--candidate', 'pipelines/checkout.yaml', '--step', 'triage'];

test('a prompt that was changed for the worse fails the command, and the old one passes it', async () => {
  const before = await command(GATE);
  expect([before.code, before.out]).toEqual([1, expect.stringContaining('0 graded, 1 needed')]);
  const lenient = await command([...GATE, '--min-graded', '0']);
  expect([lenient.code, lenient.out]).toEqual([0, expect.stringContaining('PASSED')]);
  commit('wait');
  const worse = await command(GATE);
  expect(worse.code).toBe(1);
  expect(worse.out).toContain('regressed 2, improved 0');
  expect(worse.out).toContain('FAILED: 2 regressed, 0 allowed');
  expect(worse.err).toContain('2 of 2 samples');
  expect(worse.err).toContain('/ui/replays/');
  expect((await command([...GATE, '--max-regressed', '2'])).code).toBe(0);
});

test('the newest marked executions are replayed without a golden set, with the report as JSON', async () => {
  const { code, out, err } = await command([
    '--step',
    'triage',
    '--model',
    'demo/other',
    '--k',
    '1',
    '--min-graded',
    '0',
    '--json',
  ]);
  expect([code, err]).toEqual([0, expect.stringContaining('PASSED')]);
  expect(JSON.parse(out)).toMatchObject({
    step_name: 'triage',
    k: 1,
    candidate: { model: 'demo/other' },
    status: 'completed',
  });
});

test('a launch that waits answers over a real connection once every sample was attempted', async () => {
  const body = { bucket: 'current', candidate: {}, mode: 'rerender', k: 2 };
  const answer = await call(`${site.apiServer.url}/steps/triage/replay`, { token: site.tokens.operator, body });
  expect([answer.status, answer.body]).toEqual([200, { status: 'completed', run_id: expect.any(String) as string }]);
});

test.each([
  ['an option that does not exist', ['--nope'], {}, "Unknown option '--nope'"],
  ['neither a set nor a step', [], {}, '--golden-set NAME or --step NAME is required'],
  ['no token', ['--step', 'triage'], { SIGNALBOX_TOKEN: '' }, 'SIGNALBOX_TOKEN is required'],
  ['a wrong token', ['--step', 'triage'], { SIGNALBOX_TOKEN: 'wrong' }, 'answered 401'],
  ['a service that is not there', ['--step', 'triage'], { SIGNALBOX_URL: 'http://127.0.0.1:9' }, 'cannot be reached'],
  ['an unknown set', ['--golden-set', 'none'], {}, 'there is no golden set "none"'],
  ['a step that the file lacks', [...GATE.slice(0, 4), '--step', 'other'], {}, 'no step is named "other"'],
])('exit code 2 with one line: %s', async (_what, args, env, text) => {
  const { code, out, err } = await command(args, env);
  expect([code, out]).toEqual([2, '']);
  expect(err.split('\n')[0]).toContain(text);
  expect(err).not.toContain('    at ');
});
