import { type ExecutorStep, Pipeline } from '@signalbox/crds';
import { gradeChains } from '../../analytics/replay/chain.ts';
import { type Execution, grade, type Graded } from '../../analytics/replay/graded.ts';
import type { CalibrationRule } from '../../analytics/calibration.ts';
import { asksAgent } from '../../runs/replay/candidate-step.ts';
import { candidateName, type ChainReplay, type ReplaySample, type StepReplay } from '../../runs/state/replay.ts';
import { bytesOfReport, candidateRows, recordedChainRows, recordedRows } from '../../store/aggregates/replay-rows.ts';
import type { Database } from '../../store/db/database.ts';
import { runDefinition } from '../../store/tables/definitions.ts';
import { readBatch } from '../../store/tables/replay/replays.ts';
import { findRun } from '../../store/tables/run-detail.ts';
import { unknownId } from '../fields.ts';
import type { Reading } from '../reading/reading-room.ts';
import { type BatchRun, replayReport } from '../views/replay.ts';
import { type ReplayChainReport, replayChainReport } from '../views/replay-chain.ts';
import type { AnyReplayReport } from '../views/replay-report.ts';

export interface ReportDeps {
  database: Pick<Database, 'db'>;
  reading: Reading;
  /** Of the bins of confidence. */
  rule: CalibrationRule;
}

/** The report of a batch, out of what is stored now. Throws `not_found` for a run that holds none, and `unavailable` where too much is read at once. */
export async function report({ database: { db }, reading, rule }: ReportDeps, runId: string): Promise<AnyReplayReport> {
  const [run, batch] = await Promise.all([findRun(db, runId), readBatch(db, runId)]);
  if (!run || !batch) throw unknownId('replay');
  const { replay, samples } = batch;
  if (replay.kind === 'chain') return chainReport({ database: { db }, reading }, { run, replay, samples });
  const stepIds = samples.flatMap(({ stepId }) => stepId ?? []);
  return reading(await bytesOfReport(db, runId, { stepIds }), async () => {
    const [candidates, recorded] = await Promise.all([candidateRows(db, runId), recordedRows(db, stepIds)]);
    const rows = pair(replay, samples, { candidates, recorded });
    return replayReport({ run, replay, rows, binWidth: rule.binWidth });
  });
}

interface Chains {
  run: BatchRun;
  replay: ChainReplay;
  samples: readonly ReplaySample[];
}

async function chainReport(
  { database: { db }, reading }: Omit<ReportDeps, 'rule'>,
  { run, replay, samples }: Chains,
): Promise<ReplayChainReport> {
  const replayed = Pipeline.parse(await runDefinition(db, run.id)).steps as ExecutorStep[];
  const steps = replayed.map((step) => ({
    name: step.name,
    executor: step.executor,
    replayed: asksAgent(step),
    checksNotRun: replay.checksNotRun[step.name] ?? [],
  }));
  const runIds = samples.flatMap(({ sourceRunId }) => sourceRunId ?? []);
  const ran = { runIds, stepNames: steps.map(({ name }) => name) };
  return reading(await bytesOfReport(db, run.id, ran), async () => {
    const [candidates, recorded] = await Promise.all([candidateRows(db, run.id), recordedChainRows(db, ran)]);
    return replayChainReport({ run, replay, steps, chains: gradeChains(samples, steps, { candidates, recorded }) });
  });
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
