import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';

const scratch = scratchDirectory('signal-at-start-');
afterAll(() => scratch.remove());

/** In the masks of /proc. */
const SIGUSR1 = 1n << 9n;

/** Whether Node has begun: before it holds the signal back or hears it, the signal ends any program. */
function hasBegun(pid: number): boolean {
  if (readlinkSync(`/proc/${pid}/exe`) !== process.execPath) return false;
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const masks = [...status.matchAll(/^Sig(?:Blk|Cgt):\s*(\w+)$/gm)];
  return masks.some(([, mask]) => (BigInt(`0x${mask}`) & SIGUSR1) !== 0n);
}

const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

/** How a start ends that gets the signal all the time, and what it says. The gateway executes itself again for the variable. */
async function signalled(command: string, args: readonly string[]) {
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const env = { ...process.env, PATH: path, GATEWAY_ADMIN_TOKEN: 'of-the-test' };
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += String(chunk)));
  const closed = once(child, 'close');
  while (isAlive(child) && !hasBegun(child.pid ?? 0)) await nextTurn();
  const sending = setInterval(() => child.kill('SIGUSR1'), 1);
  const ended = await closed;
  clearInterval(sending);
  return { ended, said };
}

test.each(['api-server', 'gateway', 'controller', 'backup', 'replay'] as const)(
  'no signal opens the debugger while npm run %s starts, or ends it',
  async (name) => {
    const start = `exec ${packageJson.scripts[name]} --help`;
    expect(await signalled('/bin/sh', ['-c', start])).toEqual({ ended: [0, null], said: '' });
  },
);

test.each([
  ['api-server', 'api-server/start.mjs'],
  ['gateway', 'gateway/start.mjs'],
  ['controller', 'controller/start.mjs'],
  ['agent-runner', 'gateway/runner.mjs'],
])('no signal opens the debugger while %s of the image starts, or ends it', async (part, main) => {
  const launcher = join(scratch.path, 'signalbox');
  copyFileSync(join(ROOT, 'e2e/bundle/signalbox'), launcher);
  mkdirSync(join(scratch.path, part));
  writeFileSync(join(scratch.path, part, 'start.mjs'), `await import('${pathToFileURL(join(ROOT, main)).href}');`);
  expect(await signalled(launcher, [part, '--help'])).toEqual({ ended: [0, null], said: '' });
});
