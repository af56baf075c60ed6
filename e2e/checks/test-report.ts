/** Reads vitest's JSON report: the counts of the last line, and the files to run again. */
import { z } from 'zod';

const FileResult = z.object({
  name: z.string(),
  status: z.string(),
  assertionResults: z.array(z.object({ status: z.string() })),
});
const TestReport = z.object({ testResults: z.array(FileResult) });

/** One file in one project, and how each of its tests ended. */
export type FileResult = z.infer<typeof FileResult>;

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Throws where `text` is no report. */
export function readReport(text: string): FileResult[] {
  return TestReport.parse(JSON.parse(text)).testResults;
}

/** Counts tests; a file that failed before its first test counts as one failure. */
export function tally(files: readonly FileResult[]): Tally {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of files) {
    const statuses = file.assertionResults.map(({ status }) => status);
    counts.passed += statuses.filter((status) => status === 'passed').length;
    counts.skipped += statuses.filter((status) => status !== 'passed' && status !== 'failed').length;
    const failed = statuses.filter((status) => status === 'failed').length;
    counts.failed += failed === 0 && file.status === 'failed' ? 1 : failed;
  }
  return counts;
}

/** The paths of files in which something failed, each once. */
export function failedFiles(files: readonly FileResult[]): string[] {
  return [...new Set(files.filter((file) => tally([file]).failed > 0).map(({ name }) => name))];
}

/** The results of `first`; those of files that are in `again` are replaced. */
export function replaced(first: readonly FileResult[], again: readonly FileResult[]): FileResult[] {
  const repeated = new Set(again.map(({ name }) => name));
  return [...first.filter(({ name }) => !repeated.has(name)), ...again];
}

/** The last line of `npm test`: "12 passed, 0 failed", and the skipped ones if there are any. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
