import { expect, test } from 'vitest';
import { closingLine, failedFiles, readReport, replaced, tally } from './test-report.ts';

const report = (...files: { name?: string; status: string; tests: string[] }[]) =>
  readReport(
    JSON.stringify({
      testResults: files.map(({ name, status, tests }, index) => ({
        name: name ?? `${index}.test.ts`,
        status,
        assertionResults: tests.map((each) => ({ status: each })),
      })),
    }),
  );

test('every test of every file is counted once', () => {
  const files = report(
    { status: 'passed', tests: ['passed', 'passed'] },
    { status: 'failed', tests: ['failed', 'passed'] },
  );
  expect(closingLine(tally(files))).toBe('3 passed, 1 failed');
});

test('a file that could not be loaded is a failure', () => {
  expect(closingLine(tally(report({ status: 'failed', tests: [] })))).toBe('0 passed, 1 failed');
});

test('skipped tests are named only where there are any', () => {
  const files = report({ status: 'passed', tests: ['passed', 'pending', 'skipped', 'todo'] });
  expect(closingLine(tally(files))).toBe('1 passed, 0 failed, 3 skipped');
});

test('what is no report is no success', () => {
  expect(() => readReport('{}')).toThrow();
});

test('a file that failed in two projects is named once', () => {
  const failed = { name: 'a.test.ts', status: 'failed', tests: ['failed'] };
  const files = report(
    failed,
    failed,
    { name: 'b.test.ts', status: 'failed', tests: [] },
    { status: 'passed', tests: [] },
  );
  expect(failedFiles(files)).toEqual(['a.test.ts', 'b.test.ts']);
});

test('a second run of a file stands for all of its first', () => {
  const first = report(
    { name: 'a.test.ts', status: 'failed', tests: ['failed', 'passed'] },
    { name: 'a.test.ts', status: 'passed', tests: ['passed'] },
    { name: 'b.test.ts', status: 'failed', tests: ['failed'] },
  );
  const again = report(
    { name: 'a.test.ts', status: 'passed', tests: ['passed', 'passed'] },
    { name: 'a.test.ts', status: 'passed', tests: ['passed'] },
  );
  expect(closingLine(tally(replaced(first, again)))).toBe('3 passed, 1 failed');
});
