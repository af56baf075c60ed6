import { AppError } from '@signalbox/crds';
import { stepNamed } from '../../runs/replay/candidate-step.ts';
import type { ReplayBucket } from '../../runs/state/replay.ts';
import {
  bucketSamples,
  type LabelledExecution,
  usedBucket,
  type UsedBucket,
} from '../../store/aggregates/replay-samples.ts';
import { hasExecutions } from '../../store/aggregates/step-facts.ts';
import type { Database } from '../../store/db/database.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { candidateOf, type ReplayLaunch } from './bodies.ts';
import { type BatchRequest, type PlanDeps } from './plan-step.ts';
import { badField } from './refusals.ts';
import { requireReplay, requireSafe } from './safe-agents.ts';

export interface ChooseDeps extends Omit<PlanDeps, 'database' | 'definitions'> {
  database: Pick<Database, 'db' | 'reader'>;
  definitions(): Snapshot;
}

export interface Asked {
  stepName: string;
  body: ReplayLaunch;
  signal: AbortSignal;
}

export interface Chosen {
  used: UsedBucket;
  samples: LabelledExecution[];
  request: BatchRequest;
}

/**
 * The bucket that is meant and its samples (Orchestration 4.6, rule 4). Throws `forbidden` where an agent may not be
 * replayed, `not_found` for an unknown step, `unprocessable` for a bucket that the step never had.
 */
export async function chooseSamples(deps: ChooseDeps, { stepName, body, signal }: Asked): Promise<Chosen> {
  requireReplay(deps.replaySettings);
  const db = deps.database.reader(signal);
  const used = await usedBucket(db, stepName, body.bucket === 'current' ? null : bucketOf(body.bucket));
  if (!used) throw await unknownBucket(deps, stepName, body, signal);
  const candidate = candidateOf(body.candidate);
  requireSafe(deps.replaySettings, [used, { executor: used.executor, agent: candidate.agent ?? used.agent }]);
  const { executor: _, ...bucket } = used;
  const samples = await bucketSamples(db, stepName, { bucket, limit: body.k });
  return {
    used,
    samples,
    request: {
      stepName,
      samples: samples.map(({ stepId }) => ({ stepId })),
      candidate,
      mode: body.mode,
      source: 'replay',
      base: 'recorded',
      bucket,
      k: body.k,
    },
  };
}

const bucketOf = (bucket: Exclude<ReplayLaunch['bucket'], 'current'>): ReplayBucket => ({
  agent: bucket.agent,
  model: bucket.model,
  provider: bucket.provider,
  promptHash: bucket.prompt_hash,
  agentVersion: bucket.agent_version,
});

async function unknownBucket(
  { database, definitions }: ChooseDeps,
  stepName: string,
  { bucket }: ReplayLaunch,
  signal: AbortSignal,
): Promise<AppError> {
  const { stepsByName, pipelines } = definitions();
  const defined = stepsByName.has(stepName) || pipelines.some(({ config }) => stepNamed(config.steps, stepName));
  if (!defined && !(await hasExecutions(database.reader(signal), stepName)))
    return new AppError('not_found', `no step is named "${stepName}"`);
  return badField(
    ['body', 'bucket'],
    bucket === 'current'
      ? `step "${stepName}" has no execution in production`
      : `step "${stepName}" has no execution of this bucket in production`,
  );
}
