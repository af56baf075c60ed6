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

function run(command: 'validate' | 'generate', ...args: string[]): { status: number | null; out: string; err: string } {
  const result = spawnSync(process.execPath, [join(import.meta.dirname, `${command}.ts`), ...args], {
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
    err: expect.stringContaining('unknown option --fast') as string,
  });
  expect(run('validate', '--help')).toMatchObject({ status: 0, out: expect.stringContaining('Usage') as string });
});

test('the repository holds what generate would write', () => {
  expect(run('generate', '--check')).toEqual({ status: 0, out: '', err: '' });
});
