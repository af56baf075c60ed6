import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-validate-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const COMMANDS = { validate: '../../validate.mjs', generate: 'generate.ts' };

function run(command: keyof typeof COMMANDS, ...args: string[]): { status: number | null; out: string; err: string } {
  const result = spawnSync(process.execPath, [join(import.meta.dirname, COMMANDS[command]), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status: result.status, out: result.stdout, err: result.stderr };
}

test('a folder with the layout of the services is checked, and a problem is the exit code', () => {
  write('pipelines/p.yaml', 'name: p\nsteps:\n  - {name: a, use: s}\n');
  write('steps/s.yml', 'name: s\nexecutor: gateway\nagent: a\nprompt_template: hi\n');
  write('agents/a/agent.yaml', 'name: a\nmodel: m\n');
  write('agents/a/soul.md', 'You are.');
  write('.git/config.yaml', 'steps: [');
  expect(run('validate', '.')).toMatchObject({
    status: 0,
    out: expect.stringContaining('0 errors, 0 warnings') as string,
  });
  write('pipelines/p.yaml', 'name: p\nsteps:\n  - {name: a, use: t}\n');
  expect(run('validate', '.')).toMatchObject({
    status: 1,
    out: expect.stringMatching(/^pipelines\/p\.yaml:3:15: error: steps\.0\.use: .*\n/) as string,
  });
});

test('a warning is the exit code too, unless warnings are allowed', () => {
  write(
    'pipelines/p.yaml',
    'name: p\nsteps:\n  - {name: a, executor: human, timeout_seconds: 60, prompt_template: "{{sumary}}"}\n',
  );
  const warned = expect.stringContaining(
    'pipelines/p.yaml:3:53: warning: steps.0.prompt_template: "sumary" is no known name; did you mean "summary"?\n',
  ) as string;
  expect(run('validate', '.')).toMatchObject({ status: 1, out: warned });
  expect(run('validate', '--allow-warnings', '.')).toMatchObject({ status: 0, out: warned });
  write('pipelines/p.yaml', 'name: p\nsteps: []\n');
  expect(run('validate', '--allow-warnings', '.').status).toBe(1);
});

test('a configuration of the gateway is checked, with definitions or without', () => {
  const config = (more: string) => `mcp_servers: {metrics: {command: ./run.sh, cwd: /not/on/this/machine}}\n${more}`;
  write('gateway.yaml', config('tool_policy: {rules: [{allow: {server: metrics}}]}\n'));
  expect(run('validate', '--gateway', 'gateway.yaml')).toEqual({
    status: 0,
    out: 'gateway.yaml: 0 errors, 0 warnings\n',
    err: '',
  });
  write('gateway.yaml', config('tool_policy: {rules: [{allow: {server: metric}}]}\n'));
  const warned =
    'gateway.yaml: warning: tool_policy.rules[0]: "metric" matches no tool server, so the rule has no effect; configured: metrics\ngateway.yaml: 0 errors, 1 warning\n';
  expect(run('validate', '--gateway', 'gateway.yaml')).toMatchObject({ status: 1, out: warned });
  write(
    'pipelines/p.yaml',
    'name: p\nsteps:\n  - {name: a, executor: human, timeout_seconds: 60, prompt_template: x}\n',
  );
  expect(run('validate', '--allow-warnings', '--gateway', 'gateway.yaml', 'pipelines')).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^gateway\.yaml: warning: .*\n.*\n1 definition read/) as string,
  });
  write('gateway.yaml', 'mcp_servers: {a: {command: x, tools_hash: nope}}\n');
  expect(run('validate', '--allow-warnings', '--gateway', 'gateway.yaml')).toMatchObject({
    status: 1,
    out: expect.stringContaining('gateway.yaml: error: mcp_servers.a.tools_hash: must be 64 hexadecimal') as string,
  });
});

test('an empty folder, a missing path and a wrong option say what to do', () => {
  expect(run('validate', folder)).toMatchObject({
    status: 1,
    err: expect.stringMatching(/no definitions under .*\n\nUsage/) as string,
  });
  expect(run('validate', 'nowhere')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/^validate: nowhere: no such file or folder\n/) as string,
  });
  expect(run('validate', '--fast')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/^validate: Unknown option '--fast'\n\nUsage/) as string,
  });
  expect(run('validate', '--help')).toMatchObject({ status: 0, out: expect.stringContaining('Usage') as string });
});

test('the repository holds what generate would write', () => {
  expect(run('generate', '--check')).toEqual({ status: 0, out: '', err: '' });
});
