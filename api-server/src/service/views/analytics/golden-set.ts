import { z } from 'zod';
import { type Outcome, OUTCOMES } from '../../../runs/state/model.ts';
import { LABEL_OF, meanOf } from '../../../analytics/accuracy.ts';
import { LABEL_SOURCES } from '../../../store/tables/labels/outcome.ts';
import type { CountedGoldenSet, OutcomeCounts } from '../../../store/tables/replay/golden-sets.ts';
import type { SeenMember } from '../../../store/tables/replay/golden-members.ts';
import { component, NullableNumber, NullableText, Time, viewOf } from '../answer.ts';

const SET = {
  id: '01a1febd-9c00-7a11-8f00-8e11a3329cb6',
  name: 'checkout-triage',
  description: 'Alerts that were misread before.',
  step_name: 'investigate',
  created_at: '2026-11-02T09:30:00.000Z',
  created_by: 'on-call',
  archived_at: null,
  members: 1,
  labels: { correct: 1, partial: 0, incorrect: 0 },
  accuracy: 1,
};
const MEMBER = {
  id: '01a1febd-9c01-7a11-8f00-8e11a3329cb6',
  step_id: '01a1febd-87d9-8c15-84a0-8e11a3329cb6',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  step_name: 'investigate',
  outcome: 'correct' as const,
  label: 1 as const,
  label_source: 'human' as const,
  note: 'Two alerts with one cause.',
  pinned_at: '2026-11-02T09:31:12.000Z',
  pinned_by: 'on-call',
  prompt_hash: '0c5d1e2f3a4b',
  agent_version: '9f8e7d6c5b4a',
  pipeline_name: 'checkout-errors',
  run_summary: 'Checkout answers 5xx',
  summary: 'The connection pool is exhausted.',
  available: true,
  current_outcome: 'correct' as const,
};

/** A set with the labels of its members (Orchestration 2.11). */
export const GoldenSetLine = component(
  'GoldenSet',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    /** All members are executions of this step. */
    step_name: z.string(),
    created_at: Time,
    created_by: z.string(),
    /** Null while the set is in use. */
    archived_at: Time.nullable(),
    members: z.number(),
    labels: z.strictObject({ correct: z.number(), partial: z.number(), incorrect: z.number() }),
    /** Mean of the pinned labels; null without members. */
    accuracy: NullableNumber,
  }),
  SET,
);
export type GoldenSetLine = z.infer<typeof GoldenSetLine>;

/** A pinned execution; its label is the one of the time when it was pinned. */
export const GoldenMemberLine = component(
  'GoldenMember',
  z.strictObject({
    id: z.string(),
    step_id: z.string(),
    run_id: z.string(),
    step_name: z.string(),
    outcome: z.enum(OUTCOMES),
    label: z.union([z.literal(1), z.literal(0.5), z.literal(0)]),
    label_source: z.enum(LABEL_SOURCES),
    note: NullableText,
    pinned_at: Time,
    pinned_by: z.string(),
    prompt_hash: NullableText,
    agent_version: NullableText,
    /** Null where the execution is not stored here. */
    pipeline_name: NullableText,
    /** What the alert of the recorded run said, 300 characters at most. */
    run_summary: NullableText,
    summary: NullableText,
    /** Whether the execution is stored here, so that it can be replayed. */
    available: z.boolean(),
    /** The outcome that the execution has now; null without one. */
    current_outcome: z.enum(OUTCOMES).nullable(),
  }),
  MEMBER,
);
export type GoldenMemberLine = z.infer<typeof GoldenMemberLine>;

export const GoldenSetList = component('GoldenSetList', z.strictObject({ golden_sets: z.array(GoldenSetLine) }), {
  golden_sets: [SET],
});
export type GoldenSetList = z.infer<typeof GoldenSetList>;

export const GoldenSetDetail = component('GoldenSetDetail', GoldenSetLine.extend({ rows: z.array(GoldenMemberLine) }), {
  ...SET,
  rows: [MEMBER],
});
export type GoldenSetDetail = z.infer<typeof GoldenSetDetail>;

/** What an import did. */
export const GoldenSetImported = component(
  'GoldenSetImported',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    added: z.number(),
    updated: z.number(),
    unchanged: z.number(),
    /** Members whose execution is not stored here. */
    unavailable: z.number(),
  }),
  { id: SET.id, name: SET.name, added: 3, updated: 1, unchanged: 12, unavailable: 0 },
);
export type GoldenSetImported = z.infer<typeof GoldenSetImported>;

export const GoldenMemberRemoved = component('GoldenMemberRemoved', z.strictObject({ removed: z.string() }), {
  removed: MEMBER.id,
});

export function goldenSetView(set: CountedGoldenSet): GoldenSetLine {
  const { correct, partial, incorrect } = set.labels;
  const members = correct + partial + incorrect;
  return viewOf(GoldenSetLine, set, { members, accuracy: meanOf(set.labels) });
}

export const goldenMemberView = ({ source, ...member }: SeenMember): GoldenMemberLine =>
  viewOf(GoldenMemberLine, member, {
    label: LABEL_OF[member.outcome],
    pipeline_name: source?.pipelineName ?? null,
    run_summary: source?.runSummary ?? null,
    summary: source?.summary ?? null,
    available: source !== null,
    current_outcome: source?.outcome ?? null,
  });

export const countOutcomes = (members: readonly { outcome: Outcome }[]): OutcomeCounts => ({
  correct: members.filter(({ outcome }) => outcome === 'correct').length,
  partial: members.filter(({ outcome }) => outcome === 'partial').length,
  incorrect: members.filter(({ outcome }) => outcome === 'incorrect').length,
});
