/** Whether people have looked at a run that needs them. */
export const ATTENTION_STATES = ['open', 'acknowledged', 'resolved'] as const;
export type AttentionState = (typeof ATTENTION_STATES)[number];

export const RESOLUTIONS = ['handled', 'false_alarm', 'wont_fix'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** The attention that a run needs and gets; times in milliseconds. */
export interface Attention {
  state: AttentionState;
  openedAt: number;
  assignee: string | null;
  note: string | null;
  acknowledgedAt: number | null;
  acknowledgedBy: string | null;
  resolvedAt: number | null;
  resolvedBy: string | null;
  resolution: Resolution | null;
}

const NEEDS_PEOPLE: ReadonlySet<string> = new Set(['escalated', 'failed', 'aborted']);

/** Of a production run that ended without a result. A sub-run has none: its parent has. */
export const needsAttention = (run: { status: string; stage: string; isSubRun: boolean }): boolean =>
  NEEDS_PEOPLE.has(run.status) && run.stage === 'production' && !run.isSubRun;
