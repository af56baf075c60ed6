import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** What the scripts of package.json and the parts of the image start. */
const COMMANDS = [
  'api-server/start.mjs',
  'api-server/backup.mjs',
  'api-server/replay.mjs',
  'gateway/start.mjs',
  'gateway/runner.mjs',
  'controller/start.mjs',
  'crds/validate.mjs',
  'e2e/demo/start.mjs',
  'e2e/bench/bench.ts',
  'e2e/bundle/bundle.ts',
  'e2e/bundle/sbom.ts',
  'e2e/checks/check.ts',
  'e2e/checks/generate.ts',
  'e2e/fuzz/run.ts',
  'e2e/kind/main.ts',
  'e2e/mutants/run.ts',
];

test.each(COMMANDS)('%s says how it is called', (command) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, command), '--help'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.length).toBeGreaterThan(40);
});

test.each(COMMANDS)('%s says in one line which option it does not know, then how it is called', (command) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, command), '--nope'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const [line, empty, ...help] = stderr.split('\n');
  expect([status, stdout, line, empty]).toEqual([
    2,
    '',
    expect.stringMatching(/^[\w-]+: unknown \w+ .*--nope'?$/i),
    '',
  ]);
  expect(help.join('\n').length).toBeGreaterThan(40);
});
