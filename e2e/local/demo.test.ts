import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';

const scratch = scratchDirectory('demo-');
afterAll(() => scratch.remove());

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function demo(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [join(ROOT, 'e2e/demo/start.mjs'), ...args], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stripVTControlCharacters(`${stdout}${stderr}`) }),
    );
  });
}

test('one run completes, a repeat starts nothing, an unsure one escalates, and nothing is left running', async () => {
  const { code, output } = await demo('--once', '--data', scratch.path);
  expect(output).toMatch(/No language model is used/);
  expect(output).toMatch(/→ machine\/read_load/);
  expect(output).toMatch(/✓ completed in/);
  expect(output).toMatch(/The same alert again: deduplicated/);
  expect(output).toMatch(/◆ escalated in/);
  expect(code).toBe(0);
  const addresses = output.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? [];
  expect(addresses).toHaveLength(2);
  for (const address of addresses) await expect(fetch(`${address}/health`)).rejects.toThrow('fetch failed');
});

test('a second start goes on with the data of the first', async () => {
  expect(existsSync(join(scratch.path, 'signalbox.db'))).toBe(true);
  expect(statSync(join(scratch.path, 'tokens.json')).mode & 0o077).toBe(0);
  const { code, output } = await demo('--once', '--data', scratch.path);
  expect(output).toMatch(/✓ completed in/);
  expect(code).toBe(0);
});

test('an unknown option is answered with the help', async () => {
  const { code, output } = await demo('--onec');
  expect(code).toBe(2);
  expect(output).toMatch(/--once\s+stop after the runs/);
});
