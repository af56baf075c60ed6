import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from '../support/start-service.ts';

test('every sample is sound, together with the agents it names', async () => {
  const args = [join(ROOT, 'crds/validate.mjs'), 'config/samples', 'config/local/agents'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  expect(stdout).toMatch(/pipelines, \d+ library steps and \d+ agents are valid; 0 errors, 0 warnings/);
});
