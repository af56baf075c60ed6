import { AppError } from '@signalbox/crds';
import { type Execution, grade, type Graded } from '../../analytics/replay/graded.ts';
import type { CalibrationRule } from '../../analytics/calibration.ts';
import { candidateName, type ReplaySample, type StepReplay } from '../../runs/state/replay.ts';
import { candidateRows, recordedRows } from '../../store/aggregates/replay-rows.ts';
import type { Database } from '../../store/db/database.ts';
import { readBatch } from '../../store/tables/replays.ts';
import { findRun } from '../../store/tables/run-detail.ts';
import { type ReplayReport, replayReport } from '../views/replay.ts';

export interface ReportDeps {
  database: Pick<Database, 'db'>;
  /** Of the bins of confidence. */
  rule: CalibrationRule;
}

/** The report of a batch, out of what is stored now. Throws `not_found` for a run that holds none. */
export async function report({ database: { db }, rule }: ReportDeps, runId: string): Promise<ReplayReport> {
  const [run, batch] = await Promise.all([findRun(db, runId), readBatch(db, runId)]);
  if (!run || !batch) throw new AppError('not_found', 'there is no replay with this id');
  const { replay, samples } = batch;
  if (replay.kind !== 'step') throw new AppError('not_found', 'there is no replay with this id');
  const [candidates, recorded] = await Promise.all([
    candidateRows(db, runId),
    recordedRows(
      db,
      samples.flatMap(({ stepId }) => stepId ?? []),
    ),
  ]);
  const rows = pair(replay, samples, { candidates, recorded });
  return replayReport({ run, replay, rows, binWidth: rule.binWidth });
}

interface Rows {
  candidates: readonly Execution[];
  recorded: readonly Execution[];
}

function pair({ stepName }: StepReplay, samples: readonly ReplaySample[], { candidates, recorded }: Rows): Graded[] {
  const byName = new Map(candidates.map((one) => [one.stepName, one]));
  const byId = new Map(recorded.map((one) => [one.stepId, one]));
  return samples.map((sample) =>
    grade({
      sample,
      recorded: byId.get(sample.stepId ?? '') ?? null,
      candidate: byName.get(candidateName(stepName, sample.position)) ?? null,
    }),
  );
}
