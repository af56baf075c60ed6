import type { CandidateView } from '../../../service/views/replay.ts';
import type { z } from 'zod';
import { shorten } from '../format.ts';

export type Candidate = z.infer<typeof CandidateView>;

/** What a candidate changes, in one line. A scheduled replay changes nothing: it asks the step that is loaded. */
export function candidateWords({ model, agent, prompt_template: prompt }: Candidate, source?: string): string {
  const parts = [
    model === undefined ? null : `model ${shorten(model, 80)}`,
    agent === undefined ? null : `agent ${agent}`,
    prompt === undefined ? null : 'another prompt',
  ].filter((part) => part !== null);
  const nothing = source === 'regression' ? 'the step as it was loaded' : 'nothing changed';
  return parts.length === 0 ? nothing : parts.join(', ');
}

/** What a candidate changes of a range, step by step in one line. */
export function changesWords(candidates: Readonly<Record<string, Candidate>>): string {
  const parts = Object.entries(candidates).map(([step, candidate]) => `${step}: ${candidateWords(candidate)}`);
  return parts.length === 0 ? 'nothing changed' : parts.join(' · ');
}

/** A range of steps of a pipeline. */
export const rangeWords = (range: { pipeline_name: string; from_step: string; to_step: string }): string =>
  `${range.pipeline_name}: ${range.from_step}${range.to_step === range.from_step ? '' : ` to ${range.to_step}`}`;

const LABELS = new Map([
  [1, { word: 'correct', tone: 'good', icon: 'check' }],
  [0.5, { word: 'partial', tone: 'wait', icon: 'half' }],
  [0, { word: 'incorrect', tone: 'bad', icon: 'cross' }],
]);
const NO_LABEL = { word: 'no label', tone: 'quiet', icon: 'pending' };

/** The look of a label of 1, 0.5 or 0. */
export const labelLook = (label: number | null | undefined) => LABELS.get(label ?? -1) ?? NO_LABEL;
