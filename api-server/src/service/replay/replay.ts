import type { TerminalRunStatus } from '../../runs/state/model.ts';
import type { ReplayLaunched } from '../views/replay.ts';
import type { AnyReplayReport } from '../views/replay-report.ts';
import type { ReplayChainEstimate, ReplayEstimate } from '../views/replay-estimate.ts';
import type { ChainLaunch, ReplayLaunch } from './bodies.ts';
import { type Batches, type BatchesDeps, createBatches } from './batches.ts';
import { estimateStep, type EstimateDeps } from './estimate.ts';
import { estimateChain } from './estimate-chain.ts';
import type { LaunchOptions } from './launch-once.ts';
import type { ChooseDeps } from './launch-step.ts';
import { type BatchRequest, planStep } from './plan-step.ts';
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
}

/** Replays of recorded executions against a candidate (Orchestration 4.6). */
export interface Replays extends Batches {
  /** Throws `forbidden` while nothing may be replayed. */
  requireOn(): void;
  /** Waits for what `begin` starts, until every sample was attempted. */
  launch(stepName: string, body: ReplayLaunch, options: LaunchOptions): Promise<ReplayLaunched>;
  /** Waits for what `beginChain` starts. */
  launchChain(pipelineName: string, body: ChainLaunch, options: LaunchOptions): Promise<ReplayLaunched>;
  /** What the same launch would cost. Throws as `launch` does, but for an empty bucket. */
  estimate(stepName: string, body: ReplayLaunch, signal: AbortSignal): Promise<ReplayEstimate>;
  /** What the same launch of a range would cost, step by step. Throws as `launchChain` does. */
  estimateChain(pipelineName: string, body: ChainLaunch, signal: AbortSignal): Promise<ReplayChainEstimate>;
  /** Starts a batch over an explicit list of samples and answers the id of its run. Throws `forbidden`, `unprocessable`. */
  start(request: BatchRequest): Promise<string>;
  /** How the batch ended, once it has. Rejects with `unavailable` when the signal fires first; the batch goes on. */
  settled(runId: string, signal: AbortSignal): Promise<TerminalRunStatus>;
  /** Computed for this answer: marks may have come since the batch ran. Throws `not_found`. */
  report(runId: string): Promise<AnyReplayReport>;
}

export function createReplays(deps: ReplaysDeps): Replays {
  const batches = createBatches(deps);
  const launched = async (runId: string, { signal }: LaunchOptions): Promise<ReplayLaunched> => ({
    status: await settled(deps, runId, signal),
    run_id: runId,
  });
  return {
    ...batches,
    requireOn: () => requireReplay(deps.replaySettings),
    launch: async (stepName, body, options) => launched(await batches.begin(stepName, body, options), options),
    launchChain: async (name, body, options) => launched(await batches.beginChain(name, body, options), options),
    estimate: (stepName, body, signal) => estimateStep(deps, { stepName, body, signal }),
    estimateChain: (pipelineName, body, signal) => estimateChain(deps, { pipelineName, body, signal }),
    start: async (request) => startBatch(deps, await planStep(deps, request)),
    settled: (runId, signal) => settled(deps, runId, signal),
    report: (runId) => report(deps, runId),
  };
}
