import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shellExecutor } from './shell.ts';

const run = (env: Record<string, string>) =>
  shellExecutor({ run: 'printf %s "$VALUE" | wc -c', env, signal: AbortSignal.timeout(60_000) });

test.each([
  ['a NUL', 'a\0b', 'env.VALUE contains a NUL character'],
  ['128 KiB', 'x'.repeat(128 * 1024), 'env.VALUE has 131079 bytes, at most 131072 are possible'],
  ['many bytes in few characters', '€'.repeat(50_000), 'env.VALUE has 150007 bytes, at most 131072 are possible'],
])('a variable with %s fails the check and says why', async (_, value, message) => {
  expect(await run({ VALUE: value })).toEqual({ ok: false, type: 'shell_failed', message, retryable: false });
});

test('the largest variable that is let through reaches the command', async () => {
  const value = 'x'.repeat(128 * 1024 - 'VALUE=\0'.length);
  expect(await run({ VALUE: value })).toMatchObject({
    ok: true,
    stdout: expect.stringContaining(String(value.length)),
  });
});

test('many variables that are too large together fail the check', async () => {
  const env = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`V${at}`, 'x'.repeat(100_000)]));
  expect(await run(env)).toMatchObject({ ok: false, message: expect.stringMatching(/^env has \d+ bytes/) });
});

test.each(['sleep 60 & echo done', 'setsid sleep 5 & echo done'])(
  'what %s leaves behind holds up neither the result nor the end of the run',
  async (command) => {
    const result = await shellExecutor({ run: command, env: {}, signal: AbortSignal.timeout(60_000) });
    expect(result).toMatchObject({ ok: true, exitCode: 0, stdout: 'done\n' });
    const stopped = await shellExecutor({ run: `${command}; sleep 60`, env: {}, signal: AbortSignal.timeout(100) });
    expect(stopped).toMatchObject({ ok: false, type: 'timeout' });
  },
  3_000,
);

const isRunning = (pid: string): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Says where it runs once it is in a session of its own. */
const LEAVES = `setsid sh -c 'echo $$ > "$PLACE"; exec sleep 300' & while [ ! -s "$PLACE" ]; do :; done`;
const LARGE = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`LARGE_${at}`, 'x'.repeat(100_000)]));

test.runIf(process.platform === 'linux').each([
  ['ends', LEAVES, { ok: true }, {}],
  ['with large variables ends', LEAVES, { ok: true }, LARGE],
  ['is stopped', `${LEAVES}; sleep 60`, { ok: false, type: 'timeout' }, {}],
])('a process in a session of its own ends when its check %s', async (_how, command, outcome, variables) => {
  const place = join(mkdtempSync(join(tmpdir(), 'signalbox-shell-')), 'pid');
  onTestFinished(() => rmSync(dirname(place), { recursive: true }));
  const pidOf = () => (existsSync(place) ? readFileSync(place, 'utf8').trim() : '');
  const stopping = new AbortController();
  const result = shellExecutor({ run: command, env: { ...variables, PLACE: place }, signal: stopping.signal });
  await expect.poll(pidOf).not.toBe('');
  if (!outcome.ok) stopping.abort();
  expect(await result).toMatchObject(outcome);
  await expect.poll(() => isRunning(pidOf())).toBe(false);
});
