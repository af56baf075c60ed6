import type { TerminalRunStatus } from '../../runs/state/model.ts';
import type { RecordAction } from '../audit/record.ts';
import type { ReplayLaunched } from '../views/replay.ts';
import type { AnyReplayReport } from '../views/replay-report.ts';
import type { ReplayEstimate } from '../views/replay-estimate.ts';
import type { ChainLaunch, ReplayLaunch } from './bodies.ts';
import { type Batches, type BatchesDeps, createBatches, NO_SAMPLE } from './batches.ts';
import { estimateStep, type EstimateDeps } from './estimate.ts';
import { launchOnce, type LaunchOptions } from './launch-once.ts';
import { type ChooseDeps, chooseSamples } from './launch-step.ts';
import { planChain } from './plan-chain.ts';
import { type BatchRequest, planStep } from './plan-step.ts';
import { badField } from './refusals.ts';
import { report, type ReportDeps } from './report.ts';
import { requireReplay } from './safe-agents.ts';
import { settled, type SettledDeps } from './settled.ts';
import { type Batch, startBatch, type StartDeps } from './start-batch.ts';

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
  /** Replays a range of steps over recorded runs of a pipeline, each step fed by the replayed ones before it. */
  launchChain(pipelineName: string, body: ChainLaunch, options: LaunchOptions): Promise<ReplayLaunched>;
  /** What the same launch would cost. Throws as `launch` does, but for an empty bucket. */
  estimate(stepName: string, body: ReplayLaunch, signal: AbortSignal): Promise<ReplayEstimate>;
  /** Starts a batch over an explicit list of samples and answers the id of its run. Throws `forbidden`, `unprocessable`. */
  start(request: BatchRequest): Promise<string>;
  /** How the batch ended, once it has. Rejects with `unavailable` when the signal fires first; the batch goes on. */
  settled(runId: string, signal: AbortSignal): Promise<TerminalRunStatus>;
  /** Computed for this answer: marks may have come since the batch ran. Throws `not_found`. */
  report(runId: string): Promise<AnyReplayReport>;
}

export function createReplays(deps: ReplaysDeps): Replays {
  const { database } = deps;
  /** Starts a batch for somebody who waits for it. */
  const startFor = async (batch: Batch, { actor }: LaunchOptions, target: { targetType: string; target: string }) => {
    const runId = await startBatch(deps, batch);
    await deps.record(actor, { action: 'replay', ...target, runId, outcome: 'started' });
    return runId;
  };
  const launched = async (runId: string, { signal }: LaunchOptions): Promise<ReplayLaunched> => ({
    status: await settled(deps, runId, signal),
    run_id: runId,
  });
  return {
    ...createBatches(deps),
    requireOn: () => requireReplay(deps.replaySettings),
    launch: async (stepName, body, options) => {
      const runId = await launchOnce(database, { options, what: { stepName, body } }, async (launch) => {
        const { request } = await chooseSamples(deps, { stepName, body, signal: options.signal });
        if (request.samples.length === 0) throw badField(['body', 'bucket'], NO_SAMPLE);
        const batch = await planStep(deps, { ...request, launch });
        return startFor(batch, options, { targetType: 'step', target: stepName });
      });
      return launched(runId, options);
    },
    launchChain: async (pipelineName, body, options) => {
      const runId = await launchOnce(database, { options, what: { pipelineName, body } }, async (launch) => {
        const batch = await planChain(deps, { pipelineName, body, signal: options.signal });
        return startFor({ ...batch, launch }, options, { targetType: 'pipeline', target: pipelineName });
      });
      return launched(runId, options);
    },
    estimate: (stepName, body, signal) => estimateStep(deps, { stepName, body, signal }),
    start: async (request) => startBatch(deps, await planStep(deps, request)),
    settled: (runId, signal) => settled(deps, runId, signal),
    report: (runId) => report(deps, runId),
  };
}
