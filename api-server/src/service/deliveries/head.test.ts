import { expect, test } from 'vitest';
import type { Verdict } from '../../triggers/model.ts';
import { headOf } from './head.ts';

const NAMED = { source: 'alert_router', pipeline: 'p', severity: null, summary: null };
const full: Verdict = {
  status: 'at_capacity',
  message: 'every slot is taken',
  activeRuns: 1,
  maxConcurrentRuns: 1,
  retryAfterSeconds: 5,
};

test.each<Verdict>([
  { ...NAMED, status: 'deduplicated', runId: 'r', reason: 'covered' },
  { status: 'suspended', pipeline: 'p', reason: 'suspended' },
  { status: 'skipped_testing', pipeline: 'p', reason: 'in stage testing' },
  { status: 'no_pipeline', message: 'none' },
])('a delivery with an alert for which there is no room is sent again, whatever became of others: $status', (other) => {
  expect(headOf([other, full])).toBe(full);
});

test('a delivery that started a run is taken', () => {
  const started: Verdict = { ...NAMED, status: 'queued', runId: 'r', position: 1 };
  expect(headOf([full, started])).toBe(started);
});
