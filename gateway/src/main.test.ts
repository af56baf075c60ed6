import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from './testing/until.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const START = join(import.meta.dirname, '../start.mjs');
const MISBEHAVING = join(import.meta.dirname, 'testing/misbehaving-server.ts');
let directory: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-main-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

function gateway(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [START, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...env },
  });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  // Not `exit`: what it said last may still be on its way then.
  const closed = once(child, 'close');
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  // The last piece may be half a line.
  const lines = () =>
    output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    child,
    output,
    lines,
    line: (msg: string) => until(() => lines().find((entry) => entry['msg'] === msg)),
    exit: async () => (await closed)[0] as number,
  };
}

function configure(text: string): string {
  const path = join(directory, 'gateway.yaml');
  writeFileSync(path, text);
  return path;
}

describe('the command line', () => {
  test.each([
    [['--help'], 0, '--config FILE', ''],
    [['--version'], 0, '0.1.0', ''],
    [[], 2, '', '--config FILE is required'],
    [['--confg', 'x'], 2, '', "Unknown option '--confg'"],
    [['--config', '/nowhere/x.yaml'], 2, '', 'cannot read /nowhere/x.yaml'],
  ])('%j', async (args, code, stdout, stderr) => {
    const run = gateway(args);
    expect(await run.exit()).toBe(code);
    expect(run.output.stdout).toContain(stdout);
    expect(run.output.stderr).toContain(stderr);
  });
});

test('a bad configuration is one line on stderr', async () => {
  const file = configure('limits: {max_runs: 3}');
  const run = gateway(['--config', file]);
  expect(await run.exit()).toBe(2);
  expect(run.output.stderr).toBe(`gateway: ${file}: limits.max_runs: unknown key\n`);
});

test.each([
  ['agents_dir: a', 'gateway: agents_dir: EEXIST'],
  ['agents_dir: a/b', 'gateway: agents_dir: ENOTDIR'],
  ['server: {port: 0, tls: {cert: a, key: a}}', 'gateway.yaml: server.tls: '],
])('%s, where "a" is a file, is one line on stderr', async (text, expected) => {
  writeFileSync(join(directory, 'a'), 'not what it should be');
  const run = gateway(['--config', configure(text)]);
  expect(await run.exit()).toBe(2);
  expect(run.output.stderr).toMatch(/^[^\n]+\n$/);
  expect(run.output.stderr).toContain(expected);
});

test('the first boot shows its tokens at every log level', async () => {
  const run = gateway(['--config', configure('server: {port: 0}\nlog: {level: error}\n')]);
  const minted = await run.line('tokens minted; they are not shown again');
  expect(Object.keys(minted)).toEqual(expect.arrayContaining(['admin_token', 'invoke_token']));
});

test('the first boot mints both tokens, prints them once and keeps them to itself', async () => {
  const config = configure('server: {port: 0}\nidentity_dir: id\n');
  const first = gateway(['--config', config]);
  const { url } = (await first.line('listening')) as { url: string };
  const minted = await first.line('tokens minted; they are not shown again');
  const file = join(directory, 'id', 'device-auth.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    admin_token: minted['admin_token'],
    invoke_token: minted['invoke_token'],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const answer = await fetch(`${url}/agents`, {
    headers: { authorization: `Bearer ${String(minted['invoke_token'])}` },
  });
  expect(answer.status).toBe(200);
  first.child.kill('SIGTERM');
  expect(await first.exit()).toBe(0);

  const second = gateway(['--config', config]);
  await second.line('listening');
  expect(await second.line('tokens read from a file')).toMatchObject({ path: file });
  expect(second.output.stdout).not.toContain(String(minted['admin_token']));
});

test('files of secrets that are not used are a warning', async () => {
  const env = { GATEWAY_ADMIN_TOKEN: 'admin-of-the-environment', GATEWAY_INVOKE_TOKEN: 'invoke-of-the-environment' };
  mkdirSync(join(directory, 'id'));
  const paths = ['device-auth.json', 'runner-signing-key.pem'].map((file) => join(directory, 'id', file));
  for (const path of paths) writeFileSync(path, 'of a tool server');
  const run = gateway(['--config', configure('server: {port: 0}\nidentity_dir: id\n')], env);
  await run.line('listening');
  const warning = 'not used while the environment has the tokens, and valid without them; delete it';
  expect(run.lines().filter(({ msg }) => msg === warning)).toMatchObject(
    paths.map((path) => ({ path, level: 'warn' })),
  );
});

test('tokens of the environment are used and neither written nor printed', async () => {
  const env = { GATEWAY_ADMIN_TOKEN: 'admin-of-the-environment', GATEWAY_INVOKE_TOKEN: 'invoke-of-the-environment' };
  const run = gateway(['--config', configure('server: {port: 0}\nidentity_dir: id\n')], env);
  const { url } = (await run.line('listening')) as { url: string };
  expect(
    (await fetch(`${url}/agents`, { headers: { authorization: 'Bearer invoke-of-the-environment' } })).status,
  ).toBe(200);
  expect(run.output.stdout).not.toContain('of-the-environment');
  expect(() => statSync(join(directory, 'id'))).toThrow('ENOENT');
});

test('the approve token comes from the environment or the configuration, and is no other token', async () => {
  const env = { GATEWAY_ADMIN_TOKEN: 'admin-of-the-environment', GATEWAY_INVOKE_TOKEN: 'invoke-of-the-environment' };
  const path = configure('server: {port: 0}\nidentity: {approve_token: approve-of-the-file}\n');
  const accepts = async (url: string, token: string) =>
    (await fetch(`${url}/agents`, { headers: { authorization: `Bearer ${token}` } })).status;
  const { url } = (await gateway(['--config', path], env).line('listening')) as { url: string };
  expect(await accepts(url, 'approve-of-the-file')).toBe(200);
  const twice = gateway(['--config', path], { ...env, GATEWAY_APPROVE_TOKEN: env.GATEWAY_INVOKE_TOKEN });
  expect(await twice.exit()).toBe(2);
  expect(twice.output.stderr).toContain('GATEWAY_APPROVE_TOKEN: must differ from the other tokens');
});

test('SIGHUP reads the agents again', async () => {
  const run = gateway(['--config', configure('server: {port: 0}\n')]);
  await run.line('listening');
  mkdirSync(join(directory, 'agents', 'late'), { recursive: true });
  writeFileSync(join(directory, 'agents', 'late', 'agent.yaml'), 'name: late\nmodel: demo/x\n');
  writeFileSync(join(directory, 'agents', 'late', 'soul.md'), 'x');
  run.child.kill('SIGHUP');
  await until(() => run.lines().some((entry) => entry['msg'] === 'agents loaded' && entry['agents'] === 1));
});

/** Processes with a mark in their environment. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && environment(pid).includes(mark))
    .map(Number);
}

function environment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

test.each([
  [
    'one that ignores the end of its input and SIGTERM, with a child and a daemon',
    ['ignore-term', 'grandchild', 'daemon'],
    {},
  ],
  ['one with a daemon and no namespaces', ['daemon'], { isolation: 'off' }],
  ['one that is polite', [], {}],
])('a killed gateway leaves no tool server behind: %s', async (_, traits, settings) => {
  const mark = `of-${process.pid}-${performance.now()}`;
  const server = { command: process.execPath, args: [MISBEHAVING, ...traits], env: { MARK: mark }, ...settings };
  const run = gateway(['--config', configure(JSON.stringify({ server: { port: 0 }, mcp_servers: { bad: server } }))]);
  await until(() => run.lines().some((entry) => entry['msg'] === 'tool server' && entry['state'] === 'running'));
  expect(marked(mark).length).toBeGreaterThanOrEqual(1 + traits.filter((trait) => trait !== 'ignore-term').length);
  run.child.kill('SIGKILL');
  await until(() => marked(mark).length === 0);
});

test('a taken port ends the start with its key', async () => {
  const first = gateway(['--config', configure('server: {port: 0}\n')]);
  const { url } = (await first.line('listening')) as { url: string };
  const second = gateway(['--config', configure(`server: {port: ${new URL(url).port}}\n`)]);
  expect(await second.exit()).toBe(2);
  expect(second.output.stderr).toContain('server.port: ');
});
