import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runGroup } from './run-group.ts';

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

/** A mutant may make a test wait for what never comes. Processes and databases need time to start. */
const TEST_MS = { alone: 15_000, acrossProcesses: 120_000 };
/** A mutant may also make a test compute for ever, which no timeout ends. */
const MOST_MS = 1_800_000;
const isAlone = (file: string): boolean => !/^e2e\/|\.postgres\./.test(file);

/** A workspace has a project of its own. */
function projectOf(file: string): string {
  if (file.endsWith('.postgres.test.ts')) return 'postgres';
  if (file.startsWith('e2e/attacks/')) return 'attacks';
  return file.startsWith('e2e/') ? 'faults' : (file.split('/')[0] ?? '');
}

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
  const timeout = files.every(isAlone) ? TEST_MS.alone : TEST_MS.acrossProcesses;
  const limits = [
    `--bail=${bail}`,
    `--testTimeout=${timeout}`,
    `--hookTimeout=${timeout}`,
    '--expect.poll.timeout=5000',
  ];
  await runGroup([...args, ...limits, ...files], { cwd: root, mostMs: MOST_MS });
  if (!existsSync(report)) return { failed: ['the tests do not end'] };
  const { testResults } = Report.parse(JSON.parse(readFileSync(report, 'utf8')));
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
    return tests.length > 0 || status === 'passed' ? tests : [`${name}: ${message.split('\n')[0] ?? ''}`];
  });
  return { failed };
}
