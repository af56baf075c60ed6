import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { until } from '../testing/until.ts';
import { isKept } from './own-environment.ts';

test.each([
  ['PATH', true],
  ['HOME', false],
  ['NODE_EXTRA_CA_CERTS', true],
  ['LD_LIBRARY_PATH', true],
  ['ANTHROPIC_API_KEY', false],
  ['NODE_AUTH_TOKEN', false],
  ['LD_SDK_KEY', false],
  ['UV_THREADPOOL_SIZE', true],
  ['UV_INDEX_URL', false],
  ['UV_INDEX_OURS_PASSWORD', false],
])('%s stays in the sight of other processes: %s', (name, kept) => {
  expect(isKept(name)).toBe(kept);
});

/** Prints what the process has, and what /proc shows of it, after it took its environment out of sight. */
const HIDING = `
  import { readFileSync, readlinkSync } from 'node:fs';
  const { hideEnvironment } = await import(process.argv[1]);
  const problem = hideEnvironment();
  const shown = readFileSync('/proc/self/environ', 'latin1');
  console.log(JSON.stringify({ problem, key: process.env.MODEL_KEY?.length, isShown: shown.includes('MODEL_KEY'), stdin: readlinkSync('/proc/self/fd/0') }));
`;

test.runIf(process.platform === 'linux')('the environment passes through nothing that has a name', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'own-'));
  const sentinel = basename(temporary);
  const named: string[] = [];
  const directories = [temporary, '/dev/shm'];
  const watchers = directories.map((directory) => watch(directory, (_, name) => named.push(`${directory}/${name}`)));
  try {
    const env = { PATH: process.env['PATH'], TMPDIR: temporary, MODEL_KEY: 'x'.repeat(100_000) };
    const args = ['--input-type=module', '-e', HIDING, join(import.meta.dirname, 'own-environment.ts')];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual({ problem: null, key: 100_000, isShown: false, stdin: '/dev/null' });
    const last = directories.map((directory) => join(directory, sentinel));
    for (const path of last) writeFileSync(path, '');
    await until(() => last.every((path) => named.includes(path)));
    const before = named.filter((path) => !last.includes(path));
    expect(before.filter((path) => path.startsWith(temporary) || path.includes('/signalbox-'))).toEqual([]);
  } finally {
    for (const watcher of watchers) watcher.close();
    for (const directory of [join('/dev/shm', sentinel), temporary])
      rmSync(directory, { recursive: true, force: true });
  }
});
