import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseMounts } from './disks.ts';
import { busyPercent } from './load.ts';
import { parseMeminfo } from './memory.ts';
import { parsePs, parseStat } from './processes.ts';

const client = new Client({ name: 'test', version: '1' });

beforeAll(async () => {
  const args = [join(import.meta.dirname, 'server.ts')];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
});

afterAll(() => client.close());

async function callTool(name: string, args: Record<string, unknown> = {}) {
  const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '') as Record<string, unknown>;
}

test('every tool says that it only reads', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['read_load', 'read_memory', 'read_disks', 'list_processes']);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
});

test('the load, the memory and the disks are those of this machine', async () => {
  expect(await callTool('read_load')).toMatchObject({ cpus: expect.any(Number), load_per_cpu: expect.any(Number) });
  const memory = await callTool('read_memory');
  expect(memory.used_percent).toBeGreaterThan(0);
  expect(memory.used_percent).toBeLessThan(100);
  expect(await callTool('read_disks')).toMatchObject({ fullest: { used_percent: expect.any(Number) } });
});

test('the list of processes holds as many as asked for, the largest first', async () => {
  const { processes, total } = (await callTool('list_processes', { by: 'memory', limit: 2 })) as {
    processes: { memory_mib: number }[];
    total: number;
  };
  expect(processes).toHaveLength(2);
  expect(processes[0]?.memory_mib).toBeGreaterThanOrEqual(processes[1]?.memory_mib ?? 0);
  expect(total).toBeGreaterThan(1);
});

test('a limit out of bounds is refused', async () => {
  const answer = await client.callTool({ name: 'list_processes', arguments: { limit: 1000 } });
  expect(answer.isError).toBe(true);
});

test('a process name may hold blanks and brackets', () => {
  const fields = ['S', ...Array.from({ length: 49 }, (_, index) => String(index))];
  expect(parseStat(`42 (tmux: (a) b) ${fields.join(' ')}`)).toEqual({ name: 'tmux: (a) b', ticks: 21, memoryMib: 0.1 });
  expect(parseStat('')).toBeNull();
});

test('processes come from ps where there is no /proc', () => {
  expect(parsePs('  1  0.5  2048 /sbin/launchd\n 77 12.0 10240 /Applications/My App\n')).toEqual([
    { pid: 1, name: 'launchd', cpu_percent: 0.5, memory_mib: 2 },
    { pid: 77, name: 'My App', cpu_percent: 12, memory_mib: 10 },
  ]);
});

test('only disks are listed, each device once', () => {
  const table =
    'proc /proc proc rw 0 0\n/dev/sda1 / ext4 rw 0 0\n/dev/sda1 /bind ext4 rw 0 0\n/dev/sdb /my\\040disk xfs rw 0 0\n';
  expect(parseMounts(table)).toEqual([
    { mount: '/', filesystem: 'ext4' },
    { mount: '/my disk', filesystem: 'xfs' },
  ]);
});

test('memory comes in KiB', () => {
  expect(parseMeminfo('MemTotal:       16 kB\nHugePages_Total:  3\n').get('MemTotal')).toBe(16);
});

test('the busy share is what was not idle', () => {
  const cpu = (user: number, idle: number) => ({ model: '', speed: 0, times: { user, nice: 0, sys: 0, idle, irq: 0 } });
  expect(busyPercent([cpu(0, 0)], [cpu(25, 75)])).toBe(25);
  expect(busyPercent([cpu(1, 1)], [cpu(1, 1)])).toBe(0);
});

test('with a port it serves the same tools over HTTP, and ends at SIGTERM', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'server.ts')], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const remote = new Client({ name: 'test', version: '1' });
    await remote.connect(new StreamableHTTPClientTransport(new URL(url)));
    const { tools } = await remote.listTools();
    expect(tools).toHaveLength(4);
    const answer = await remote.callTool({ name: 'read_load', arguments: {} });
    expect(JSON.stringify(answer.content)).toContain('load_per_cpu');
    await remote.close();
    expect((await fetch(new URL('/health', url))).status).toBe(200);
    expect((await fetch(new URL('/other', url))).status).toBe(404);
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    expect((await closed)[0]).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
});
