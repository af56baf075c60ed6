import type { RunDetail } from '../../../../service/views/run.ts';
import { ATTENTION_LOOKS, type AttentionState, RESOLUTION_WORDS } from '../../attention-look.ts';
import { exactTime } from '../../format.ts';
import { paths } from '../../paths.ts';

type Living = Pick<
  RunDetail,
  | 'id'
  | 'attention'
  | 'assignee'
  | 'attention_note'
  | 'acknowledged_at'
  | 'acknowledged_by'
  | 'resolved_at'
  | 'resolved_by'
  | 'resolution'
>;

/** Who looks at the run, and what an operator can do about it; null for a run that needs no person. */
export function attentionView(run: Living, operator: boolean) {
  const { attention: state } = run;
  if (state === null) return null;
  return {
    ...ATTENTION_LOOKS[state],
    text: sentenceOf(run, state),
    note: run.attention_note,
    action: paths.runAttention(run.id),
    form: operator ? { assignee: run.assignee ?? '', ...FORMS[state] } : null,
    resolutions: Object.entries(RESOLUTION_WORDS).map(([value, label]) => ({ value, label })),
  };
}

const FORMS: Record<AttentionState, { acknowledge: string | null; resolve: boolean; reopen: boolean }> = {
  open: { acknowledge: 'Acknowledge', resolve: true, reopen: false },
  acknowledged: { acknowledge: 'Assign', resolve: true, reopen: true },
  resolved: { acknowledge: null, resolve: false, reopen: true },
};

function sentenceOf(run: Living, state: AttentionState): string {
  if (state === 'open') return 'Nobody has acknowledged this run yet.';
  if (state === 'acknowledged')
    return `${by(run.acknowledged_by, run.acknowledged_at)}${run.assignee ? `, assigned to ${run.assignee}` : ''}.`;
  const how = run.resolution === null ? '' : `${RESOLUTION_WORDS[run.resolution]}, `;
  return `${how}${by(run.resolved_by, run.resolved_at)}.`;
}

const by = (name: string | null, at: string | null): string =>
  `${name === null ? '' : `by ${name} `}${at === null ? '' : `on ${exactTime(at)}`}`.trim();
