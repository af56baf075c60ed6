import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Scratch, scratchDirectory } from '../../e2e/support/scratch.ts';
import { ROOT } from '../../e2e/support/start-service.ts';

let copy: Scratch;
beforeAll(() => {
  copy = scratchDirectory('gitops-');
  cpSync(join(import.meta.dirname, 'definitions'), copy.path, { recursive: true });
});
afterAll(() => copy.remove());

const validate = async (path: string) => {
  const command = [join(ROOT, 'crds/validate.mjs'), path];
  return promisify(execFile)(process.execPath, command).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, stdout: error.stdout }),
  );
};

test('the sample repository passes its own check', async () => {
  const { code, stdout } = await validate(copy.path);
  expect(stdout).toContain('1 pipeline, 1 library step and 1 agent are valid; 0 errors, 0 warnings');
  expect(code).toBe(0);
});

test('a broken commit fails it, with file, line and column', async () => {
  const file = join(copy.path, 'pipelines/disk-filling.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('use: read-disks', 'use: no-such-step'));
  const { code, stdout } = await validate(copy.path);
  expect(code).toBe(1);
  expect(stdout).toMatch(/disk-filling\.yaml:\d+:\d+: error: .*no-such-step/);
});
