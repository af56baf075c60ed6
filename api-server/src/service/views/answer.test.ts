import { expect, test } from 'vitest';
import { z } from 'zod';
import { NullableText, Time, viewOf } from './answer.ts';

test('an answer has the fields of its schema and no other', () => {
  const Line = z.strictObject({ run_id: z.string(), started_at: Time, ended_at: Time.nullable(), note: NullableText });
  const stored = { runId: 'r', startedAt: 0, endedAt: null, secret: 'x' };
  const view = viewOf(Line, stored, { note: 'n' });
  expect(view).toEqual({ run_id: 'r', started_at: '1970-01-01T00:00:00.000Z', ended_at: null, note: 'n' });
});
