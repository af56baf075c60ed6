import { meanLabel, type ReplayRow } from '../../../service/views/replay-row.ts';

/** Accuracies of the samples that have both labels: what others were marked with says nothing of the candidate. */
export function gradedPair(rows: readonly ReplayRow[]) {
  const both = rows.flatMap(({ recorded_label: recorded, candidate_label: candidate }) =>
    recorded === null || candidate === undefined ? [] : [{ recorded, candidate }],
  );
  return {
    n: both.length,
    recorded: meanLabel(both.map(({ recorded }) => recorded)),
    candidate: meanLabel(both.map(({ candidate }) => candidate)),
  };
}
