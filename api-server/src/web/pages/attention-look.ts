export const RESOLUTION_WORDS = { handled: 'Handled', false_alarm: 'False alarm', wont_fix: 'Will not fix' } as const;

export const ATTENTION_LOOKS = {
  open: { tone: 'escalated', icon: 'alert', word: 'Open' },
  acknowledged: { tone: 'wait', icon: 'waiting', word: 'Acknowledged' },
  resolved: { tone: 'good', icon: 'check', word: 'Resolved' },
} as const;

export type AttentionState = keyof typeof ATTENTION_LOOKS;

/** Icon, tone and words of a state, for a row of a list. */
export const attentionLook = (state: AttentionState, assignee: string | null) => ({
  ...ATTENTION_LOOKS[state],
  title: `${ATTENTION_LOOKS[state].word}${assignee === null ? '' : `, assigned to ${assignee}`}`,
});
