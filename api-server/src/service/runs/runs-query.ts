import { z } from 'zod';
import { ATTENTION_STATES } from '../../runs/state/attention.ts';
import { RUN_STATUSES, STAGES } from '../../runs/state/model.ts';
import { RUN_ORDERS } from '../../runs/state/run-order.ts';
import { count, Instant, line, RunId } from '../fields.ts';

export { RUN_ORDERS };

/** One of these words, several separated by commas, or the parameter repeated. */
const anyOf = <Word extends string>(words: readonly Word[]) =>
  z.preprocess(
    (value) => [value].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : [text])),
    z.array(z.enum(words)).max(words.length),
  );

export const AttentionFilter = anyOf(ATTENTION_STATES);

/** `key:value`, or `key=value`. */
export const LabelFilter = line(512).transform((text, context) => {
  const at = text.search(/[:=]/);
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  context.addIssue({ code: 'custom', message: 'must be key:value' });
  return z.NEVER;
});

const Cursor = z
  .string()
  .regex(/^r\d{1,15}$/, 'is not a valid cursor')
  .transform((text) => Number(text.slice(1)));

/** Query of `GET /runs`, the page of runs and every other list of runs (Orchestration 4.2). */
export const RunsQuery = z
  .strictObject({
    status: anyOf(RUN_STATUSES).optional(),
    pipeline: line().optional(),
    team: line().optional(),
    /** Only runs without a team, or only those with one. */
    teamless: z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .optional(),
    stage: z.enum(STAGES).optional(),
    severity: line().optional(),
    q: line().optional(),
    source: line().optional(),
    fingerprint: line(1024).optional(),
    label: z
      .preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(LabelFilter).max(10))
      .optional(),
    since: Instant.optional(),
    until: Instant.optional(),
    agent: line().optional(),
    model: line().optional(),
    parent: RunId.optional(),
    warnings: z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .optional(),
    /** Only batches of replays, or only runs that are none. */
    replay: z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .optional(),
    attention: AttentionFilter.optional(),
    limit: count(1, 200).default(50),
    offset: count(0, 1_000_000_000).default(0),
    cursor: Cursor.optional(),
    sort: z.enum(RUN_ORDERS).optional(),
  })
  .refine((query) => query.cursor === undefined || query.offset === 0, {
    path: ['cursor'],
    message: 'cannot be combined with offset',
  })
  .refine((query) => query.cursor === undefined || (query.sort ?? 'age') === 'age', {
    path: ['cursor'],
    message: 'needs the order by age; use offset',
  });
export type RunsQuery = z.output<typeof RunsQuery>;
