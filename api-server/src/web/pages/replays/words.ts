import type { CandidateView } from '../../../service/views/replay.ts';
import type { z } from 'zod';
import { shorten } from '../format.ts';

export type Candidate = z.infer<typeof CandidateView>;

/** What a candidate changes, in one line. */
export function candidateWords({ model, agent, prompt_template: prompt }: Candidate): string {
  const parts = [
    model === undefined ? null : `model ${shorten(model, 80)}`,
    agent === undefined ? null : `agent ${agent}`,
    prompt === undefined ? null : 'another prompt',
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'nothing changed' : parts.join(', ');
}

const LABELS = new Map([
  [1, { word: 'correct', tone: 'good', icon: 'check' }],
  [0.5, { word: 'partial', tone: 'wait', icon: 'half' }],
  [0, { word: 'incorrect', tone: 'bad', icon: 'cross' }],
]);
const NO_LABEL = { word: 'no label', tone: 'quiet', icon: 'pending' };

/** The look of a label of 1, 0.5 or 0. */
export const labelLook = (label: number | null | undefined) => LABELS.get(label ?? -1) ?? NO_LABEL;

export const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);
