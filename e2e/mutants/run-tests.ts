import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** A mutant may make a test wait for what never comes. */
const TEST_MS = 15_000;

/** A workspace has a project of its own; what is used of `e2e` belongs to one. */
const projectOf = (file: string): string => (file.startsWith('e2e/') ? 'faults' : (file.split('/')[0] ?? ''));

/** Runs test files of the projects in this folder; answers the names of failed tests, or of a file that cannot be run; ends after `bail` of them (0: none). */
export async function runTests(
  root: string,
  files: readonly string[],
  { bail }: { bail: number },
): Promise<{ failed: string[] }> {
  const report = join(root, 'mutant-report.json');
  rmSync(report, { force: true });
  const projects = [...new Set(files.map(projectOf))].map((name) => `--project=${name}`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...projects, '--reporter=json', `--outputFile=${report}`];
  const limits = [
    `--bail=${bail}`,
    `--testTimeout=${TEST_MS}`,
    `--hookTimeout=${TEST_MS}`,
    '--expect.poll.timeout=5000',
  ];
  const child = spawn(process.execPath, [...args, ...limits, ...files], { cwd: root, stdio: 'ignore' });
  await once(child, 'exit');
  const { testResults } = Report.parse(JSON.parse(readFileSync(report, 'utf8')));
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
    return tests.length > 0 || status === 'passed' ? tests : [`${name}: ${message.split('\n')[0] ?? ''}`];
  });
  return { failed };
}
