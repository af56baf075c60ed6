import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../testing/free-port.ts';
import { until } from '../testing/until.ts';
import { createMemoryWatch } from './memory-watch.ts';
import { openRemote, openServer } from './open-server.ts';
import { createOrphanWatch } from './orphan-watch.ts';
import { createReadUse } from './read-use.ts';
import { type Pinning, ToolServers, type ToolServerSpec } from './tool-servers.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const MISBEHAVING = join(import.meta.dirname, '../testing/misbehaving-server.ts');
const EVERYTHING = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);
const SLOW_TOOLS = new Set(['hang', 'freeze']);
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '' };
const SURROUNDINGS = {
  environment: ENVIRONMENT,
  watchMemory: createMemoryWatch(createReadUse(), 100),
  orphanWatch: createOrphanWatch(ENVIRONMENT.PATH, () => {}),
  notReadingMs: 2000,
};
afterAll(() => SURROUNDINGS.orphanWatch.close());

let servers: ToolServers | null = null;
afterEach(async () => {
  await servers?.stop();
  servers = null;
});

function local(name: string, args: string[], env: Record<string, string> = {}): ToolServerSpec {
  return {
    name,
    transport: 'stdio',
    toolsHash: undefined,
    open: openServer({ command: process.execPath, args, env, memory_limit_mib: 300 }, SURROUNDINGS),
  };
}

interface StartOptions {
  pinning?: Pinning;
  onChangedTools?: () => void;
  pingTimeoutMs?: number;
}

/** Waits for scheduled work ten times as fast as asked, so that backoff does not make the tests slow. */
function start(
  specs: ToolServerSpec[],
  { pinning = 'off', onChangedTools = () => {}, pingTimeoutMs = 30_000 }: StartOptions = {},
): ToolServers {
  servers = new ToolServers(specs, {
    pinning,
    random: () => 0,
    now: () => new Date(),
    pingEveryMs: 60_000,
    pingTimeoutMs,
    onTransition: () => {},
    onChangedTools: () => onChangedTools(),
    schedule: (action, ms) => {
      const timer = setTimeout(action, ms / 10);
      return () => clearTimeout(timer);
    },
  });
  servers.start();
  return servers;
}

async function running(all: ToolServers, ...names: string[]): Promise<void> {
  expect(await all.whenRunning(names, 100_000, AbortSignal.timeout(50_000))).toEqual([]);
}

const call = (all: ToolServers, server: string, tool: string, input: Record<string, unknown> = {}) =>
  all.call(server, tool, input, {
    signal: new AbortController().signal,
    timeoutMs: SLOW_TOOLS.has(tool) ? 100 : 50_000,
  });
const viewOf = (all: ToolServers, name: string) => all.views().find((view) => view.name === name);

/** Processes whose command line holds all words. */
function processes(...words: string[]): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => words.every((word) => read(pid, 'cmdline').includes(word)));
}

/** Empty for a process that is gone. */
function read(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Null for a process that is gone, or that only waits to be collected. */
function groupOf(pid: number): number | null {
  try {
    const [state, , group] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' ? null : Number(group);
  } catch {
    return null;
  }
}

describe('a real server', () => {
  test('over stdio: tools, calls, its own errors', async () => {
    const all = start([local('everything', [EVERYTHING, 'stdio'])]);
    await running(all, 'everything');
    expect(viewOf(all, 'everything')).toMatchObject({
      running: true,
      transport: 'stdio',
      restart_count: 0,
      last_error: null,
      pid: expect.any(Number),
    });
    expect(all.tools().map(({ name }) => name)).toContain('echo');
    expect(await call(all, 'everything', 'get-sum', { a: 2, b: 40 })).toEqual({
      kind: 'ok',
      text: 'The sum of 2 and 40 is 42.',
    });
    expect((await call(all, 'everything', 'get-sum', { a: 'two' })).kind).toBe('error');
    expect((await call(all, 'everything', 'no-such-tool')).kind).toBe('error');
  });

  test('over streamable HTTP, and back after it was gone', async () => {
    const port = String(await freePort());
    const serve = () =>
      spawn(process.execPath, [EVERYTHING, 'streamableHttp'], { env: { ...ENVIRONMENT, PORT: port }, stdio: 'ignore' });
    let child = serve();
    try {
      const all = start([
        {
          name: 'remote',
          transport: 'http',
          toolsHash: undefined,
          open: openRemote({ url: `http://127.0.0.1:${port}/mcp`, headers: {} }, 30_000),
        },
      ]);
      await running(all, 'remote');
      expect(await call(all, 'remote', 'echo', { message: 'far' })).toEqual({ kind: 'ok', text: 'Echo: far' });
      child.kill('SIGKILL');
      expect((await call(all, 'remote', 'echo', { message: 'gone' })).kind).toBe('unavailable');
      await until(() => viewOf(all, 'remote')?.running === false);
      child = serve();
      await running(all, 'remote');
      expect((await call(all, 'remote', 'echo', { message: 'back' })).text).toBe('Echo: back');
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('misbehaviour', () => {
  test.each([
    ['exit', 'unavailable', 'exited with code 7'],
    ['flood', 'unavailable', 'flooded its output'],
    ['blank-flood', 'unavailable', 'flooded its output'],
    ['answer-flood', 'ok', 'flooded its output'],
    ['stderr-endless', 'unavailable', 'flooded its error output'],
    ['long-line', 'unavailable', 'wrote a line of more than'],
    ['wrong-id', 'unavailable', 'answered a request that was never made'],
    ['long-id', 'unavailable', 'sent a request whose id has more than 200 characters'],
    ['close-stdout', 'unavailable', 'closed its output'],
    ['half-line', 'unavailable', 'exited with code 9'],
    ['memory', 'unavailable', 'used more than 300 MiB of memory'],
    ['child-memory', 'unavailable', 'used more than 300 MiB of memory'],
    ['daemon-memory', 'unavailable', 'used more than 300 MiB of memory'],
    ['bare-daemon-memory', 'unavailable', 'used more than 300 MiB of memory'],
  ])('%s: an error result, a restart, and the neighbour never notices', async (tool, kind, reason) => {
    const all = start([local('bad', [MISBEHAVING]), local('good', [MISBEHAVING])]);
    await running(all, 'bad', 'good');
    const neighbour = viewOf(all, 'good')?.pid;
    const pid = viewOf(all, 'bad')?.pid ?? 0;
    expect((await call(all, 'bad', tool)).kind).toBe(kind);
    await until(() => (viewOf(all, 'bad')?.restart_count ?? 0) > 0);
    expect(viewOf(all, 'bad')?.last_error).toContain(reason);
    await running(all, 'bad');
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
    await until(() => !processes(MISBEHAVING).includes(pid) && processes(`of-${pid}`).length === 0);
    expect(viewOf(all, 'good')).toMatchObject({ pid: neighbour, restart_count: 0 });
  });

  test('a hanging tool is a timeout; a server that still answers pings stays', async () => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    expect(await call(all, 'bad', 'hang')).toMatchObject({ kind: 'timeout' });
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
    expect(viewOf(all, 'bad')?.restart_count).toBe(0);
  });

  test('a server that answers pings and no calls is replaced after three of them', async () => {
    const all = start([{ ...local('bad', [MISBEHAVING]), timeouts: { timeoutMs: 50 } }]);
    await running(all, 'bad');
    for (let count = 0; count < 3; count++)
      expect(await call(all, 'bad', 'hang')).toEqual({
        kind: 'timeout',
        text: 'the tool did not answer within 0.05 s',
      });
    expect(viewOf(all, 'bad')).toMatchObject({ running: false, last_error: 'left 3 calls in a row unanswered' });
    await running(all, 'bad');
    expect(viewOf(all, 'bad')?.restart_count).toBe(1);
  });

  test('a frozen server fails its ping and is replaced, whatever it does with SIGTERM', async () => {
    const all = start([local('bad', [MISBEHAVING, 'ignore-term'])], { pingTimeoutMs: 1000 });
    await running(all, 'bad');
    const pid = viewOf(all, 'bad')?.pid ?? 0;
    expect((await call(all, 'bad', 'freeze')).kind).toBe('timeout');
    await until(() => viewOf(all, 'bad')?.last_error === 'does not answer a ping');
    await running(all, 'bad');
    await until(() => !processes(MISBEHAVING).includes(pid));
  });

  test.each([
    ['garbage', 'ok'],
    ['double', 'ok'],
    ['big', 'ok'],
    ['stderr-flood', 'ok'],
    ['change-storm', 'ok'],
    ['error', 'error'],
    ['rpc-error', 'error'],
    ['bad-shape', 'unavailable'],
    ['many-keys', 'error'],
  ])('%s is survived without a restart', async (tool, kind) => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    expect((await call(all, 'bad', tool)).kind).toBe(kind);
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
    expect(viewOf(all, 'bad')?.restart_count).toBe(0);
  });

  test('a second answer that nests too deeply to be described ends the session and no more', async () => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    expect(await call(all, 'bad', 'deep-double')).toEqual({ kind: 'ok', text: 'first' });
    await until(() => viewOf(all, 'bad')?.last_error?.startsWith('sent a message that cannot be read'));
    await running(all, 'bad');
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
  });

  test('a server that dies at every start backs off and says why, without its secrets', async () => {
    const all = start([local('bad', [MISBEHAVING, 'dies-at-start'], { LICENSE: 'license-1234' })]);
    await until(() => (viewOf(all, 'bad')?.restart_count ?? 0) >= 2);
    expect(viewOf(all, 'bad')).toMatchObject({
      running: false,
      last_error: 'exited with code 3: no license found in ***',
    });
    expect((await call(all, 'bad', 'ok')).kind).toBe('unavailable');
  });

  test.each(['refuses', 'cannot-list'])('a server that %s says why without its secrets', async (trait) => {
    const all = start([local('bad', [MISBEHAVING, trait], { LICENSE: 'license-1234' })]);
    await until(() => viewOf(all, 'bad')?.last_error);
    expect(viewOf(all, 'bad')?.last_error).toContain('the license *** is over');
  });

  test('an error of a call does not tell its secrets to the model', async () => {
    const all = start([local('bad', [MISBEHAVING], { LICENSE: 'license-1234' })]);
    await running(all, 'bad');
    expect(await call(all, 'bad', 'telling-error')).toMatchObject({
      kind: 'error',
      text: expect.stringContaining('the license *** is over'),
    });
  });

  test('a server that stops reading is replaced instead of written to without end', async () => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    void call(all, 'bad', 'stop-reading');
    const filler = 'z'.repeat(6 * 1024 * 1024);
    const calls = await Promise.all([1, 2, 3, 4, 5].map(() => call(all, 'bad', 'ok', { filler })));
    expect(calls.map(({ kind }) => kind)).not.toContain('ok');
    await until(() => (viewOf(all, 'bad')?.restart_count ?? 0) > 0);
    expect(viewOf(all, 'bad')?.last_error).toBe('stopped reading its input');
    await running(all, 'bad');
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
  });

  test('so is one that asks without end and does not read the answers', async () => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    await call(all, 'bad', 'ask-unread');
    expect((await call(all, 'bad', 'ok', { filler: 'z'.repeat(17 * 1024 * 1024) })).kind).toBe('unavailable');
    expect(viewOf(all, 'bad')?.last_error).toBe('stopped reading its input');
  });

  test('a server that reads is not ended by calls that are sent faster', async () => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    const filler = 'z'.repeat(4 * 1024 * 1024);
    const calls = await Promise.all(Array.from({ length: 9 }, () => call(all, 'bad', 'meta', { filler })));
    const kinds = new Set(calls.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['ok', 'unavailable']));
    expect(calls.at(-1)?.text).toContain('is busy');
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
    expect(viewOf(all, 'bad')?.restart_count).toBe(0);
  });

  test.each([
    ['endless-tools', 'more than'],
    ['many-tools', 'offers more than 1000 tools'],
    ['heavy-tools', 'describes its tools in more than'],
    ['heavy-extras', 'describes its tools in more than'],
    ['deep-tool', 'has a tool that nests deeper than 60 levels: ok'],
    ['long-name', 'has a tool whose name is longer than 256 characters'],
  ])('%s: what it lists is bounded', async (trait, reason) => {
    const all = start([local('bad', [MISBEHAVING, trait])]);
    await until(() => viewOf(all, 'bad')?.last_error?.includes(reason));
    expect(all.tools()).toEqual([]);
  });

  test('a tool that is listed several times is there once', async () => {
    const all = start([local('bad', [MISBEHAVING, 'twin-tools'])]);
    await running(all, 'bad');
    expect(all.tools().map(({ name }) => name)).toEqual(['ok', 'env']);
  });

  test('a program that is not there is told', async () => {
    const all = start([
      {
        ...local('bad', []),
        open: openServer({ command: '/nonexistent/server', args: [], env: {}, memory_limit_mib: 300 }, SURROUNDINGS),
      },
    ]);
    await until(() => viewOf(all, 'bad')?.last_error?.includes('ENOENT'));
  });

  test('a cancelled call is taken back at the server and does not disturb the next one', async () => {
    const all = start([local('bad', [MISBEHAVING])]);
    await running(all, 'bad');
    const abort = new AbortController();
    const hanging = all.call('bad', 'hang', {}, { signal: abort.signal, timeoutMs: 600_000 });
    abort.abort(new Error('enough'));
    expect((await hanging).kind).not.toBe('ok');
    expect(JSON.parse((await call(all, 'bad', 'cancelled')).text)).toHaveLength(1);
    expect((await call(all, 'bad', 'ok')).kind).toBe('ok');
  });
});

test('stopping ends grandchildren and servers that ignore SIGTERM', async () => {
  const all = start([local('stubborn', [MISBEHAVING, 'ignore-term', 'grandchild', 'marker-77'])]);
  await running(all, 'stubborn');
  const [pid] = processes(MISBEHAVING, 'marker-77');
  expect(pid).toBeDefined();
  const group = () => {
    try {
      return process.kill(-(pid ?? 0), 0);
    } catch {
      return false;
    }
  };
  expect(group()).toBe(true);
  await all.stop();
  await until(() => !group());
});

test('stopping ends a grandchild that cannot be told by its environment and ignores SIGTERM', async () => {
  const all = start([local('bare', [MISBEHAVING, 'bare-grandchild'])]);
  await running(all, 'bare');
  const pid = viewOf(all, 'bare')?.pid ?? 0;
  const grandchild = () => processes('sleep 602').find((id) => groupOf(id) === pid);
  await until(() => grandchild() !== undefined);
  await all.stop();
  expect(grandchild()).toBeUndefined();
});

test('stopping ends what left the process group too, however large its environment', async () => {
  const all = start([local('daemonic', [MISBEHAVING, 'daemon'], { LARGE: 'x'.repeat(100_000) })]);
  await running(all, 'daemonic');
  const { SIGNALBOX_TOOL_SERVER: mark } = JSON.parse((await call(all, 'daemonic', 'env')).text) as Record<
    string,
    string
  >;
  const daemon = processes('sleep', '601').find((pid) => read(pid, 'environ').includes(`${mark}`));
  expect(daemon).toBeDefined();
  await all.stop();
  await until(() => !processes('sleep', '601').includes(daemon ?? 0));
});

test('a server sees its own environment and nothing of ours', async () => {
  process.env['GATEWAY_SECRET_FOR_TEST'] = 'leak';
  const all = start([local('env', [MISBEHAVING], { OWN: 'yes' })]);
  await running(all, 'env');
  const seen = JSON.parse((await call(all, 'env', 'env')).text) as Record<string, string>;
  delete process.env['GATEWAY_SECRET_FOR_TEST'];
  expect(
    Object.keys(seen)
      .filter((key) => !key.startsWith('__'))
      .toSorted(),
  ).toEqual(['OWN', 'PATH', 'SIGNALBOX_TOOL_SERVER']);
});

describe('pinning', () => {
  test.each(['off', 'enforce'] as const)('%s, other tools are another version of them', async (pinning) => {
    const all = start([local('shifty', [MISBEHAVING]), local('well', [MISBEHAVING])], { pinning });
    const versions = () => ['shifty', 'well', 'gone'].map((name) => all.versionOf(new Set([name])));
    const [starting] = versions();
    await running(all, 'shifty');
    await running(all, 'well');
    const [shifty, well] = versions();
    await call(all, 'shifty', 'change');
    await until(() => versions()[0] !== shifty);
    expect(new Set([starting, shifty, versions()[0]]).size).toBe(pinning === 'off' ? 3 : 2);
    expect(versions().slice(1)).toEqual([well, '']);
  });

  test('enforced, changed tools are disabled; a restart with the old ones enables them again', async () => {
    const all = start([local('shifty', [MISBEHAVING])], { pinning: 'enforce' });
    await running(all, 'shifty');
    expect((await call(all, 'shifty', 'change')).kind).toBe('ok');
    await until(() => viewOf(all, 'shifty')?.tools_pinned === false);
    expect(all.tools()).toEqual([]);
    expect(new Set(all.listedTools().map(({ disabled }) => disabled))).toEqual(new Set([true]));
    expect(await call(all, 'shifty', 'ok')).toMatchObject({
      kind: 'unavailable',
      text: expect.stringContaining('changed'),
    });
  });

  test('an operator’s hash that does not fit disables them from the start', async () => {
    const all = start([{ ...local('other', [MISBEHAVING]), toolsHash: '000000000000' }], { pinning: 'enforce' });
    await running(all, 'other');
    expect(all.tools()).toEqual([]);
  });

  test.each([
    ['the whole hash', (hash: string) => hash, true],
    ['the 12 digits of an earlier version', (hash: string) => hash.slice(0, 12), true],
    ['another hash with the same 12 digits', (hash: string) => hash.slice(0, 12).padEnd(64, '0'), false],
    ['fewer digits', (hash: string) => hash.slice(0, 11), false],
  ])('tools are accepted by %s: %#', async (_, written, isAccepted) => {
    const first = start([local('well', [MISBEHAVING])]);
    await running(first, 'well');
    const hash = viewOf(first, 'well')?.tools_hash ?? '';
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const pinned = start([{ ...local('well', [MISBEHAVING]), toolsHash: written(hash) }], { pinning: 'enforce' });
    await running(pinned, 'well');
    expect(pinned.tools().length > 0).toBe(isAccepted);
  });

  test('warned, they stay and are reported once', async () => {
    let reports = 0;
    const all = start([{ ...local('other', [MISBEHAVING]), toolsHash: '000000000000' }], {
      pinning: 'warn',
      onChangedTools: () => (reports += 1),
    });
    await running(all, 'other');
    expect(all.tools()).not.toEqual([]);
    expect(all.tools()).toHaveLength(all.listedTools().length);
    expect(reports).toBe(1);
  });
});
