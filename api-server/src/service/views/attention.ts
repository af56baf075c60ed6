import { z } from 'zod';
import { type Attention, ATTENTION_STATES, RESOLUTIONS } from '../../runs/state/attention.ts';
import { component, iso, NullableText, Time } from './answer.ts';

/** What people did about a run that needed them. */
export const LIFE = {
  attention_note: NullableText,
  acknowledged_at: Time.nullable(),
  /** The name of a token, or `<platform>:<user id>`. */
  acknowledged_by: NullableText,
  resolved_at: Time.nullable(),
  resolved_by: NullableText,
  resolution: z.enum(RESOLUTIONS).nullable(),
};

const Life = z.strictObject(LIFE);
type Life = z.infer<typeof Life>;

export const NO_LIFE: Life = {
  attention_note: null,
  acknowledged_at: null,
  acknowledged_by: null,
  resolved_at: null,
  resolved_by: null,
  resolution: null,
};

const time = (ms: number | null): string | null => (ms === null ? null : iso(ms));

export const lifeView = (attention: Attention | null): Life =>
  attention === null
    ? NO_LIFE
    : {
        attention_note: attention.note,
        acknowledged_at: time(attention.acknowledgedAt),
        acknowledged_by: attention.acknowledgedBy,
        resolved_at: time(attention.resolvedAt),
        resolved_by: attention.resolvedBy,
        resolution: attention.resolution,
      };

/** The answer to each change of an escalation's life. */
export const RunAttention = component(
  'RunAttention',
  z.strictObject({
    run_id: z.string(),
    attention: z.enum(ATTENTION_STATES),
    assignee: NullableText,
    ...LIFE,
  }),
  {
    ...NO_LIFE,
    run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
    attention: 'acknowledged',
    assignee: 'ana',
    attention_note: 'Looking at the pool.',
    acknowledged_at: '2026-11-02T09:16:00.000Z',
    acknowledged_by: 'on-call',
  },
);
export type RunAttention = z.infer<typeof RunAttention>;

export const runAttentionView = (runId: string, attention: Attention): RunAttention => ({
  run_id: runId,
  attention: attention.state,
  assignee: attention.assignee,
  ...lifeView(attention),
});
