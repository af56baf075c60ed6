import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Estimate } from '../../analytics/replay/estimate.ts';
import { replayChainEstimate, replayEstimate } from './replay-estimate.ts';
import { replayReport, type ReportFacts } from './replay.ts';
import { NullableText, Time, viewOf } from './answer.ts';

test('an answer has the fields of its schema and no other', () => {
  const Line = z.strictObject({ run_id: z.string(), started_at: Time, ended_at: Time.nullable(), note: NullableText });
  const stored = { runId: 'r', startedAt: 0, endedAt: null, secret: 'x' };
  const view = viewOf(Line, stored, { note: 'n' });
  expect(view).toEqual({ run_id: 'r', started_at: '1970-01-01T00:00:00.000Z', ended_at: null, note: 'n' });
});

test('an answer has no noise of binary fractions; what an agent said stays', () => {
  const Line = z.strictObject({ cost: z.number(), share: z.number(), third: z.number(), output: z.unknown() });
  const noisy = { cost: 0.1 + 0.2, third: 1 / 3, output: { amount: 0.1 + 0.2 } };
  const view = viewOf(Line, noisy as never, { share: 1 - 0.9 });
  expect(view).toEqual({ cost: 0.3, share: 0.1, third: 1 / 3, output: { amount: 0.1 + 0.2 } });
});

test('estimates and reports of replays have none either', () => {
  const of = (total: number) => ({ total, perSample: total, tier: null, reason: null }) as unknown as Estimate;
  expect(
    replayChainEstimate(
      1,
      [of(0.1), of(0.2)].map((one) => ({ ...one, stepName: 's' })),
    ).total,
  ).toBe(0.3);
  const judge = { ...of(0.2), eligible: 1 };
  expect(replayEstimate({ sampleCount: 1, candidate: of(0.1), judge }).combined_total).toBe(0.3);
  const judged = (cost: number) => ({ sample: { judgement: { cost } }, recorded: null, candidate: null, change: null });
  const facts = { run: {}, replay: { judge: { agent: 'j' }, candidate: {} }, rows: [judged(0.1), judged(0.2)] };
  const report = replayReport({ ...facts, binWidth: 0.1 } as unknown as ReportFacts);
  expect(report.judge?.cost).toBe(0.3);
});
