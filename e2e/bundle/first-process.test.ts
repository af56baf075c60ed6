import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { startProcess } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const scratch = scratchDirectory('signalbox-first-process-');
const dist = join(scratch.path, 'dist');
const env = { ...process.env, HOME: scratch.path, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
const MISBEHAVING = join(import.meta.dirname, '../../gateway/src/testing/misbehaving-server.ts');

/** As the entry point of the image, in a namespace of processes of its own. */
const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
const container = [...asRoot, '--pid', '--fork', '--mount-proc', '--kill-child', 'tini', '--', join(dist, 'signalbox')];

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, 'bundle.ts'), '--out', dist]);
});
afterAll(() => scratch.remove());

test('as the first process of a container it leaves no ended process uncollected and still stops when told', async () => {
  const bad = { command: process.execPath, args: [MISBEHAVING, 'grandchild', 'daemon', 'dies-at-start'] };
  const config = join(scratch.path, 'gateway.yaml');
  mkdirSync(join(scratch.path, 'agents'));
  writeFileSync(
    config,
    JSON.stringify({ server: { port: 0 }, agents_dir: 'agents', identity_dir: 'id', mcp_servers: { bad } }),
  );
  let downs = 0;
  const options = {
    env,
    onLine: ({ msg }: { msg?: unknown }) => void (downs += msg === 'tool server is down' ? 1 : 0),
  };
  const args = [...container, 'gateway', '--config', config];
  const gateway = await startProcess('gateway', { command: 'unshare', args }, options);
  const [first = 0] = childrenOf(gateway.pid);
  await waitFor(() => downs >= 2, { what: 'two ends of the tool server' });
  await waitFor(() => childrenOf(first).every((pid) => fieldsOf(pid)[0] !== 'Z'), { what: 'no ended process' });
  process.kill(first, 'SIGTERM');
  expect(await gateway.exited).toMatchObject({ code: 0 });
});

test('a container that is told to stop before its part has begun stops', async () => {
  const child = spawn('unshare', [...container, 'machine-tools'], { env: { ...env, PORT: '0' }, stdio: 'ignore' });
  const exit = once(child, 'exit');
  const isInit = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'tini';
  const first = await waitFor(() => childrenOf(child.pid ?? 0).find(isInit), { what: 'the first process', everyMs: 1 });
  process.kill(first, 'SIGTERM');
  expect(await exit).toEqual([143, null]);
});

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && fieldsOf(Number(pid))[1] === String(parent))
    .map(Number);
}

/** State, parent and so on, as /proc has them behind the command. */
function fieldsOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
