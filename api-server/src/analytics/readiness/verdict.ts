export const VERDICTS = ['ready', 'not_ready', 'building', 'no_data', 'not_configured'] as const;
/** Of a tier, a step or a pipeline (Orchestration 3). */
export type Verdict = (typeof VERDICTS)[number];

/** What several verdicts come to: the first line that holds. What nothing is asked of has no say. */
const TABLE: readonly [holds: (judged: readonly Verdict[]) => boolean, verdict: Verdict][] = [
  [(judged) => judged.length === 0, 'not_configured'],
  [(judged) => judged.every((one) => one === 'no_data'), 'no_data'],
  [(judged) => judged.includes('not_ready'), 'not_ready'],
  [(judged) => judged.includes('building') || judged.includes('no_data'), 'building'],
  [() => true, 'ready'],
];

/** The verdict of a step from its tiers, of a pipeline from its steps. */
export function combine(verdicts: readonly Verdict[]): Verdict {
  const judged = verdicts.filter((one) => one !== 'not_configured');
  return TABLE.find(([holds]) => holds(judged))?.[1] ?? 'ready';
}

interface Measure {
  /** How much evidence of the tier's own kind there is, and how much is needed. */
  has: number;
  needs: number;
  /** Whether every knob beside the count holds. */
  holds: boolean;
}

/** The verdict of a tier that something is asked of; `rows` are all executions in scope. */
export function judge(rows: number, { has, needs, holds }: Measure): Verdict {
  if (rows === 0) return 'no_data';
  if (has < needs) return 'building';
  return holds ? 'ready' : 'not_ready';
}

/** Shares are compared as if written with six digits: 17 of 20 reach 0.85. */
export const reaches = (share: number, needed: number): boolean => share >= needed - 1e-6;
