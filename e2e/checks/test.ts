/**
 * `npm test`: every test whose real parts are on this machine. Names what it leaves out before the run and after it.
 *
 * Tests of processes on a machine shared with strangers are at times slower than any patience. With CI=true a few files
 * that failed run once more, one after the other; those that pass then are named as unsteady, and do not fail the run.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { missingParts, testUsage } from './missing-parts.ts';
import { PARTS, type Part } from './parts.ts';
import { ROOT } from './run-command.ts';
import { closingLine, failedFiles, type FileResult, readReport, replaced, tally } from './test-report.ts';

const isCi = process.env.CI === 'true' || process.env.CI === '1';
/** More failures than this are no chance. */
const MAX_FILES_AGAIN = 3;
/** A failure outside of a file: an uncaught error, or a run that ended early. */
const ITSELF: FileResult = { name: 'vitest itself', status: 'failed', assertionResults: [] };

const leftOut = PARTS.filter((part) => !part.isPresent());
if (process.argv.includes('--help')) {
  console.log(testUsage(PARTS));
  process.exit(0);
}
const missing = missingParts(leftOut, isCi);
if (missing !== '') console.log(missing);
const reports = mkdtempSync(join(tmpdir(), 'test-report-'));
try {
  const given = process.argv.slice(2);
  const first = await runVitest('first', given);
  const broken = failedFiles(first);
  const files = isCi && given.length === 0 && mayBeChance(broken) ? await onceMore(first, broken) : first;
  const counts = tally(files);
  const failed = counts.failed + (isCi ? leftOut.length : 0);
  if (missing !== '') console.log(`\n${missing}`);
  console.log(closingLine({ ...counts, failed }));
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(reports, { recursive: true, force: true });
}

function mayBeChance(broken: readonly string[]): boolean {
  return broken.length > 0 && broken.length <= MAX_FILES_AGAIN && !broken.includes(ITSELF.name);
}

async function onceMore(first: readonly FileResult[], broken: readonly string[]): Promise<FileResult[]> {
  console.log(`\nrunning again: ${broken.map(named).join(', ')}\n`);
  const again = await runVitest('again', ['--no-file-parallelism', ...broken]);
  const stillBroken = failedFiles(again);
  const unsteady = broken.filter((file) => !stillBroken.includes(file));
  for (const file of unsteady) console.log(`UNSTEADY: ${named(file)} failed, then passed`);
  return replaced(first, again);
}

function named(file: string): string {
  return relative(ROOT, file);
}

/** The results of every file. A run with a failing exit code has a failure here too, also when the report has none. */
async function runVitest(name: string, given: readonly string[]): Promise<FileResult[]> {
  const reportFile = join(reports, `${name}.json`);
  const args = [
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...leftOut.flatMap(({ projects }: Part) => projects.map((project) => `--project=!${project}`)),
    ...given,
  ];
  const exitCode = await exitOf(args);
  try {
    const files = readReport(readFileSync(reportFile, 'utf8'));
    return exitCode !== 0 && failedFiles(files).length === 0 ? [...files, ITSELF] : files;
  } catch (error) {
    console.error(`vitest left no report: ${String(error)}`);
    return [ITSELF];
  }
}

function exitOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, pass);
      resolve(code ?? 1);
    });
  });
}
