import type { Outcome } from '../../runs/state/model.ts';
import { meanLabel } from '../accuracy.ts';
import { binOf, type Label } from '../calibration.ts';
import type { Change, Execution, Graded } from './graded.ts';

const labelled = (rows: readonly Graded[], pick: (row: Graded) => Label | null): Label[] =>
  rows.map(pick).filter((label) => label !== null);

/** How the samples of one step did (Orchestration 2.10). Accuracies are 0..1, null where nothing is labelled. */
export interface Summary {
  recordedDistribution: Record<Outcome, number>;
  recordedAccuracy: number | null;
  /** Of marks of people and failed checks alone. */
  candidateAccuracySoFar: number | null;
  candidateGradedN: number;
  /** Samples that could be replayed. */
  candidateTotalN: number;
  unreplayableCount: number;
  judgeAccuracy: number | null;
  judgeGradedN: number;
  judgeSkippedN: number;
  judgeSkippedBreakdown: Record<string, number>;
  combinedAccuracy: number | null;
  regressed: number;
  improved: number;
  unchanged: number;
}

export function summarize(rows: readonly Graded[]): Summary {
  const byPeople = rows.filter(({ candidateLabelSource: source }) => source === 'human' || source === 'deterministic');
  const byJudge = rows.filter(({ candidateLabelSource }) => candidateLabelSource === 'judge');
  const unreplayableCount = rows.filter(({ status }) => status === 'unreplayable').length;
  const skipped = rows.flatMap(({ judgeSkipped }) => judgeSkipped ?? []);
  const changed = (change: Change) => rows.filter((row) => row.change === change).length;
  const known = labelled(rows, ({ recordedLabel }) => recordedLabel);
  const labels = (of: readonly Graded[]) => labelled(of, ({ candidateLabel }) => candidateLabel);
  return {
    recordedDistribution: {
      correct: known.filter((label) => label === 1).length,
      partial: known.filter((label) => label === 0.5).length,
      incorrect: known.filter((label) => label === 0).length,
    },
    recordedAccuracy: meanLabel(known),
    candidateAccuracySoFar: meanLabel(labels(byPeople)),
    candidateGradedN: byPeople.length,
    candidateTotalN: rows.length - unreplayableCount,
    unreplayableCount,
    judgeAccuracy: meanLabel(labels(byJudge)),
    judgeGradedN: byJudge.length,
    judgeSkippedN: skipped.length,
    judgeSkippedBreakdown: Object.fromEntries(
      [...Map.groupBy(skipped, (reason) => reason)].map(([reason, all]) => [reason, all.length]),
    ),
    combinedAccuracy: meanLabel(labels(rows)),
    regressed: changed('regressed'),
    improved: changed('improved'),
    unchanged: changed('unchanged'),
  };
}

export interface ConfidenceBin {
  lo: number;
  /** Belongs to the next bin, but for the last one. */
  hi: number;
  recordedN: number;
  candidateN: number;
}

/** How sure the agents were, before and now. */
export function confidences(rows: readonly Graded[], binWidth: number): ConfidenceBin[] {
  const count = binOf(0, binWidth).bins;
  const countIn = (bin: number, pick: (row: Graded) => Execution | null) =>
    rows.filter((row) => {
      const confidence = pick(row)?.confidence ?? null;
      return confidence !== null && binOf(confidence, binWidth).bin === bin;
    }).length;
  return Array.from({ length: count }, (_, bin) => ({
    lo: bin / count,
    hi: (bin + 1) / count,
    recordedN: countIn(bin, ({ recorded }) => recorded),
    candidateN: countIn(bin, ({ candidate }) => candidate),
  }));
}

/** What executions used; `n` of them. A null is one that none of them reported. */
export interface Used {
  n: number;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Currency units of those that have a price. */
  cost: number | null;
  unpriced: number;
  /** Of all together. */
  durationSeconds: number | null;
}

export function usedBy(executions: readonly Execution[]): Used {
  const sum = (pick: (execution: Execution) => number | null): number | null => {
    const numbers = executions.map(pick).filter((number) => number !== null);
    return numbers.length === 0 ? null : numbers.reduce((total, number) => total + number, 0);
  };
  return {
    n: executions.length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: sum(({ cost }) => cost),
    unpriced: executions.filter(({ cost, inputTokens }) => cost === null && inputTokens !== null).length,
    durationSeconds: sum(({ durationSeconds }) => durationSeconds),
  };
}

/** Recorded executions and their candidates, of the samples that have both. */
export function compareUse(rows: readonly Graded[]): { recorded: Used; candidate: Used } {
  const both = rows.flatMap(({ recorded, candidate }) =>
    recorded && candidate && candidate.status !== 'running' ? [{ recorded, candidate }] : [],
  );
  return {
    recorded: usedBy(both.map(({ recorded }) => recorded)),
    candidate: usedBy(both.map(({ candidate }) => candidate)),
  };
}
