import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { carriersOf, environmentOf } from './carriers.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Its environment in the order of the names. */
async function sleepWith(env: Record<string, string>): Promise<number> {
  const child = spawn('/bin/sleep', ['600'], { env, stdio: 'ignore' });
  started.push(child);
  await once(child, 'spawn');
  return child.pid ?? 0;
}

const MOST_BYTES = 64 * 1024;
const FILLER = 'x'.repeat(100_000);
async function carriers(text: string): Promise<number[]> {
  const found: number[] = [];
  for await (const pid of carriersOf(text, MOST_BYTES)) found.push(pid);
  return found;
}

test.runIf(process.platform === 'linux')(
  'a process is found by what stands in its environment, and read no further than is asked for',
  async () => {
    const mark = `of-test-${process.pid}`;
    const first = await sleepWith({ MARK: mark, FILLER });
    const last = await sleepWith({ FILLER, MARK: mark });
    expect(await carriers(`MARK=${mark}`)).toEqual([first]);
    expect(await environmentOf(String(last), Buffer.alloc(10))).toHaveLength(10);
  },
);

test('nothing is known of a process that has ended', async () => {
  const pid = await sleepWith({});
  const ended = once(started[0] as ChildProcess, 'exit');
  process.kill(pid, 'SIGKILL');
  await ended;
  expect(await environmentOf(String(pid), Buffer.alloc(10))).toHaveLength(0);
});
