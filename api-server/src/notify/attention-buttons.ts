import type { AttentionState } from '../runs/state/attention.ts';
import type { Button } from './message.ts';

const ACKNOWLEDGE = 'acknowledge';
const RESOLVE = 'resolve';
const FALSE_ALARM = 'false_alarm';
export const ATTENTION_PRESSES = [ACKNOWLEDGE, RESOLVE, FALSE_ALARM] as const;
export type AttentionPress = (typeof ATTENTION_PRESSES)[number];

/** What a chat can do about a run in this state. */
export function attentionButtons(runId: string, state: AttentionState): Button[] {
  if (state === 'resolved') return [];
  const acknowledge: Button = { label: 'Acknowledge', value: `${ACKNOWLEDGE}:${runId}`, style: 'primary' };
  return [
    ...(state === 'open' ? [acknowledge] : []),
    { label: 'Resolve', value: `${RESOLVE}:${runId}`, style: 'plain' },
    { label: 'False alarm', value: `${FALSE_ALARM}:${runId}`, style: 'plain' },
  ];
}
