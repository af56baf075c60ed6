import { expect, test } from 'vitest';
import { runDetail, stepDetail, trustReport } from '../fixtures/runs.ts';
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
  ['a person', 'rejected', 'A person rejected it'],
  ['anything else', 'evidence', 'Fix what the step reports'],
])('a run that %s aborted says what to do about it', (_, type, next) => {
  expect(ended('aborted', type)?.next).toContain(next);
});

test.each([
  ['The agent stopped this run', 'stopped', 'gateway'],
  ['This run was stopped', 'sub_run', 'pipeline'],
] as const)('%s: where its step says so', (title, type, executor) => {
  const step = stepDetail({ step_name: 'approve', executor, error: { type, message: '' }, trust_report: null });
  expect(ended('stopped', type, { steps: [step] })?.title).toBe(title);
});

test.each([
  [false, 'Read the Evidence below'],
  [null, 'Act on the alert: this run has ended'],
])('an escalated run whose gate says passed: %s names what to do', (passed, next) => {
  const step = stepDetail({ step_name: 'approve', trust_report: trustReport({ passed }) });
  expect(ended('escalated', 'gate', { steps: [step] })?.next).toContain(next);
});

test('a run that waits by its sub-run says where to decide', () => {
  const waiting = (waiting_on: string) => noticeOf(runDetail({ status: 'running', waiting_on }));
  expect(waiting('human')).toMatchObject({ title: 'Waiting for a decision', action: { href: '#step' } });
  expect(waiting('run:1')).toMatchObject({ title: 'Waiting on a sub-run', next: expect.stringContaining('open it') });
});

test('an escalated run that somebody resolved asks for nobody', () => {
  const notice = ended('escalated', 'gate', { attention: 'resolved' });
  expect(notice).toMatchObject({ title: 'This run escalated', next: 'It is resolved, as said below.' });
});

test('who cancelled a run is said once', () => {
  const error = { step: null, message: 'cancelled by ann' };
  expect(ended('cancelled', '', { error })).toMatchObject({ title: 'This run was cancelled', text: 'By ann' });
});
