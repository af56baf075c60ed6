import type { TerminalRunStatus } from '../../runs/state/model.ts';
import type { RecordAction } from '../audit/record.ts';
import type { ReplayLaunched, ReplayReport } from '../views/replay.ts';
import type { ReplayEstimate } from '../views/replay-estimate.ts';
import type { ReplayLaunch } from './bodies.ts';
import { type Batches, type BatchesDeps, createBatches, NO_SAMPLE } from './batches.ts';
import { estimateStep, type EstimateDeps } from './estimate.ts';
import { launchOnce, type LaunchOptions } from './launch-once.ts';
import { type ChooseDeps, chooseSamples } from './launch-step.ts';
import { type BatchRequest, planStep } from './plan-step.ts';
import { badField } from './refusals.ts';
import { report, type ReportDeps } from './report.ts';
import { requireReplay } from './safe-agents.ts';
import { settled, type SettledDeps } from './settled.ts';
import { startBatch, type StartDeps } from './start-batch.ts';

export type { LaunchOptions } from './launch-once.ts';
export type { BatchRequest } from './plan-step.ts';

export interface ReplaysDeps
  extends
    Omit<ChooseDeps, 'database'>,
    Omit<SettledDeps, 'database'>,
    Omit<StartDeps, 'database'>,
    Omit<ReportDeps, 'database'>,
    Omit<EstimateDeps, 'database'>,
    Omit<BatchesDeps, 'database'> {
  database: ChooseDeps['database'] & SettledDeps['database'] & StartDeps['database'];
  record: RecordAction;
}

/** Replays of recorded executions against a candidate (Orchestration 4.6). */
export interface Replays extends Batches {
  /** Throws `forbidden` while nothing may be replayed. */
  requireOn(): void;
  /**
   * Replays labelled executions of a bucket; resolves when every sample was attempted. Throws `forbidden`, `not_found`,
   * `unprocessable`, and `conflict` where the key was used for another launch.
   */
  launch(stepName: string, body: ReplayLaunch, options: LaunchOptions): Promise<ReplayLaunched>;
  /** What the same launch would cost. Throws as `launch` does, but for an empty bucket. */
  estimate(stepName: string, body: ReplayLaunch, signal: AbortSignal): Promise<ReplayEstimate>;
  /** Starts a batch over an explicit list of samples and answers the id of its run. Throws `forbidden`, `unprocessable`. */
  start(request: BatchRequest): Promise<string>;
  /** How the batch ended, once it has. Rejects with `unavailable` when the signal fires first; the batch goes on. */
  settled(runId: string, signal: AbortSignal): Promise<TerminalRunStatus>;
  /** Computed for this answer: marks may have come since the batch ran. Throws `not_found`. */
  report(runId: string): Promise<ReplayReport>;
}

export function createReplays(deps: ReplaysDeps): Replays {
  return {
    ...createBatches(deps),
    requireOn: () => requireReplay(deps.replaySettings),
    launch: async (stepName, body, options) => {
      const runId = await launchOnce(deps.database, { options, what: { stepName, body } }, async (launch) => {
        const { request } = await chooseSamples(deps, { stepName, body, signal: options.signal });
        if (request.samples.length === 0) throw badField(['body', 'bucket'], NO_SAMPLE);
        const id = await startBatch(deps, await planStep(deps, { ...request, launch }));
        const outcome = { targetType: 'step', target: stepName, runId: id, outcome: 'started' };
        await deps.record(options.actor, { action: 'replay', ...outcome });
        return id;
      });
      return { status: await settled(deps, runId, options.signal), run_id: runId };
    },
    estimate: (stepName, body, signal) => estimateStep(deps, { stepName, body, signal }),
    start: async (request) => startBatch(deps, await planStep(deps, request)),
    settled: (runId, signal) => settled(deps, runId, signal),
    report: (runId) => report(deps, runId),
  };
}
