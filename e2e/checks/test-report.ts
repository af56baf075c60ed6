/** The part of vitest's JSON report that the closing line is computed from. */
import { z } from 'zod';

const TestReport = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
});

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts tests; a file that failed before its first test counts as one failure. Throws where `text` is no report. */
export function tally(text: string): Tally {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of TestReport.parse(JSON.parse(text)).testResults) {
    const statuses = file.assertionResults.map(({ status }) => status);
    counts.passed += statuses.filter((status) => status === 'passed').length;
    counts.skipped += statuses.filter((status) => status !== 'passed' && status !== 'failed').length;
    const failed = statuses.filter((status) => status === 'failed').length;
    counts.failed += failed === 0 && file.status === 'failed' ? 1 : failed;
  }
  return counts;
}

/** The last line of `npm test`: "12 passed, 0 failed", with the skipped ones behind where there are any. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
