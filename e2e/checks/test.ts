/**
 * `npm test`: every test whose real parts are on this machine. Names what was left out, why, and how to get it; with
 * CI=true a missing part is a failure. Arguments go to vitest: `npm test -- --project crds`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARTS, type Part } from './parts.ts';
import { ROOT } from './run-command.ts';
import { closingLine, tally, type Tally } from './test-report.ts';

const isCi = process.env.CI === 'true' || process.env.CI === '1';

function runVitest(leftOut: readonly Part[], reportFile: string): Promise<number> {
  const args = [
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...leftOut.flatMap(({ projects }) => projects.map((project) => `--project=!${project}`)),
    ...process.argv.slice(2),
  ];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** A run that vitest calls failed is failed here too, whatever its report says. */
function tallyOf(reportFile: string, exitCode: number): Tally {
  try {
    const counts = tally(readFileSync(reportFile, 'utf8'));
    return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } catch (error) {
    console.error(`vitest left no report: ${String(error)}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const leftOut = PARTS.filter((part) => !part.isPresent());
const reports = mkdtempSync(join(tmpdir(), 'test-report-'));
try {
  const reportFile = join(reports, 'report.json');
  const exitCode = await runVitest(leftOut, reportFile);
  const counts = tallyOf(reportFile, exitCode);
  const failed = counts.failed + (isCi ? leftOut.length : 0);
  for (const { name, projects, howToGet } of leftOut) {
    console.log(`${isCi ? 'MISSING' : 'left out'}: ${projects.join(', ')} tests need ${name} (${howToGet})`);
  }
  console.log(closingLine({ ...counts, failed }));
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(reports, { recursive: true, force: true });
}
