import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const JUDGE = fileURLToPath(new URL('./many-calls.fixture.ts', import.meta.url));

test.each([
  ['3,500 pipelines that call each other in a ring', 'ring', { loaded: 0, cycles: 3500 }],
  ['3,000 callers of one with 3,000 below it', 'hub', { loaded: 6051, cycles: 0 }],
])('%s are judged in 256 MiB', async (_, shape, expected) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=256', JUDGE, shape]);
  expect(JSON.parse(stdout)).toEqual(expected);
});
