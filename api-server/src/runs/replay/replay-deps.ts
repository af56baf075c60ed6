import type { Judgement, RecordedOf, RecordedRun, ReplayBatch, ReplaySample, StepReplay } from '../state/replay.ts';
import type { StepExecution } from '../state/model.ts';
import type { Write } from '../state/records.ts';
import type { StepKind } from '../state/step-kind.ts';
import type { StepDeps } from '../step/step.ts';

/** What a batch needs beside what every step needs. */
export interface ReplayDeps {
  /** Null where the run holds no batch. */
  readBatch(runId: string): Promise<ReplayBatch | null>;
  /** A recorded execution; null where it is gone. */
  readExecution(id: string): Promise<StepExecution | null>;
  /** A recorded run; null where it is gone. */
  readRecorded(of: RecordedOf): Promise<RecordedRun | null>;
  /** A candidate that ended before a restart. */
  readStep(runId: string, stepName: string): Promise<StepExecution | null>;
  /** Agents only, no approvals: a replay asks no person. */
  kinds: ReadonlyMap<string, StepKind>;
  /** They answer for safe agents only, by the configuration of now: an interrupted batch is older than it. */
  backends: StepDeps['backends'];
  noteUnreplayable(runId: string, position: number, reason: string): Write;
  noteJudgement(runId: string, position: number, judgement: Judgement): Write;
}

export type ReplayingDeps = ReplayDeps & { step: StepDeps };

export interface OneSample {
  replay: StepReplay;
  sample: ReplaySample;
}
