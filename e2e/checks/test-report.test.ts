import { expect, test } from 'vitest';
import { closingLine, tally } from './test-report.ts';

const report = (...files: { status: string; tests: string[] }[]) =>
  JSON.stringify({
    testResults: files.map(({ status, tests }, index) => ({
      name: `${index}.test.ts`,
      status,
      assertionResults: tests.map((each) => ({ status: each })),
    })),
  });

test('every test of every file is counted once', () => {
  const text = report(
    { status: 'passed', tests: ['passed', 'passed'] },
    { status: 'failed', tests: ['failed', 'passed'] },
  );
  expect(closingLine(tally(text))).toBe('3 passed, 1 failed');
});

test('a file that could not be loaded is a failure', () => {
  expect(closingLine(tally(report({ status: 'failed', tests: [] })))).toBe('0 passed, 1 failed');
});

test('skipped tests are named only where there are any', () => {
  const text = report({ status: 'passed', tests: ['passed', 'pending', 'skipped', 'todo'] });
  expect(closingLine(tally(text))).toBe('1 passed, 0 failed, 3 skipped');
});

test('what is no report is no success', () => {
  expect(() => tally('{}')).toThrow();
});
