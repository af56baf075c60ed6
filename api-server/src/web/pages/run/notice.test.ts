import { expect, test } from 'vitest';
import { runDetail, stepDetail } from '../fixtures/runs.ts';
import { noticeOf } from './notice.ts';
import type { ShownRun } from './step/shown-step.ts';

const ended = (status: ShownRun['status'], type: string, more: Partial<ShownRun> = {}) =>
  noticeOf(
    runDetail({
      status,
      error: { step: 'approve', message: 'said so' },
      steps: [stepDetail({ step_name: 'approve', error: { type, message: 'said so' }, trust_report: null })],
      ...more,
    }),
  );

test('a failed run says to run it again, and speaks of dedup only where it has a fingerprint', () => {
  expect(ended('failed', 'timeout')?.next).toMatch(/Fix the cause, then run it again\. Where dedup is on, a repeat/);
  expect(ended('failed', 'timeout', { fingerprint: null })?.next).toMatch(/then run it again\.$/);
});

test.each([
  ['a gate', 'gate', 'mark it so that its threshold can be trusted'],
  ['a person', 'rejected', 'A person said no'],
  ['anything else', 'evidence', 'Fix what the step reports'],
])('a run that %s aborted says what to do about it', (_, type, next) => {
  expect(ended('aborted', type)?.next).toContain(next);
});

test('a run that waits by its sub-run says where to decide', () => {
  const waiting = (waiting_on: string) => noticeOf(runDetail({ status: 'running', waiting_on }));
  expect(waiting('human')).toMatchObject({ title: 'Waiting for a decision' });
  expect(waiting('run:1')).toMatchObject({ title: 'Waiting on a sub-run', next: expect.stringContaining('open it') });
});
