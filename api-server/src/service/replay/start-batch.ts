import { contentHash, type Pipeline, UNRESTRICTED } from '@signalbox/crds';
import type { ReplayConfig } from '../../config/config.ts';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import type { TriggerContext } from '../../runs/state/model.ts';
import { newRunRow, type NewRun } from '../../runs/state/new-run.ts';
import type { Replay, ReplaySource } from '../../runs/state/replay.ts';
import { addCounters } from '../../store/db/counters.ts';
import type { Database, Tx } from '../../store/db/database.ts';
import { countOpenBatches } from '../../store/tables/replay/replay-batches.ts';
import { insertReplay, type NewReplay } from '../../store/tables/replay/replays.ts';
import { insertRun, keepDefinition } from '../../store/tables/run-writes.ts';
import { AtCapacity } from '../deliveries/at-capacity.ts';

export interface StartDeps {
  database: Pick<Database, 'write'>;
  /** Starts a stored run as soon as there is a slot for it, here or on another replica. */
  begin(run: NewRun, state: 'queued'): void;
  now(): number;
  newId(now: number): string;
  replaySettings: ReplayConfig;
}

export interface Batch extends NewReplay {
  source: ReplaySource;
  /** What runs, with the candidate's changes. */
  pipeline: Pipeline;
}

/** A further write of the transaction that stores the run of a batch. */
export type Alongside = (tx: Tx, runId: string) => Promise<void>;

/**
 * Stores a batch as one synthetic run and begins it; resolves with the id of the run once it is stored. Rejects with
 * `conflict` where a batch with the launch key exists, and with `at_capacity` where `replay.max_batches` have not ended.
 */
export async function startBatch(deps: StartDeps, batch: Batch, alongside?: Alongside): Promise<string> {
  const now = deps.now();
  const id = deps.newId(now);
  const pipeline = asLoaded(batch.pipeline);
  const context = contextOf(batch, now);
  const row = newRunRow({ pipeline, context, team: null, dedupKey: null }, { id, status: 'queued', now });
  const { hash, name, config } = pipeline;
  await deps.database.write(async (tx) => {
    if (batch.source === 'replay') await requirePlace(tx, deps.replaySettings);
    await keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(config), stored_at: now });
    await insertRun(tx, row);
    await insertReplay(tx, id, batch);
    addCounters(tx, [{ metric: 'replay_batches_total', labels: [stepOf(batch.replay)], value: 1 }]);
    await alongside?.(tx, id);
  });
  const run = { id, pipeline, context, team: null, stage: config.stage, triggeredAt: now };
  deps.begin({ ...run, concurrencyGroup: null, owner: null, prior: [] }, 'queued');
  return id;
}

/** A scheduled replay takes no place and needs none, so that nobody can hold it up with replays of their own. */
async function requirePlace(tx: Tx, { maxBatches: maxConcurrentRuns }: ReplayConfig): Promise<void> {
  const activeRuns = await countOpenBatches(tx);
  if (activeRuns < maxConcurrentRuns) return;
  const message = `${activeRuns} of ${maxConcurrentRuns} replays wait or run (replay.max_batches)`;
  throw new AtCapacity({ message, activeRuns, maxConcurrentRuns, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

const RETRY_AFTER_SECONDS = 30;

const stepOf = (replay: Replay): string => (replay.kind === 'step' ? replay.stepName : replay.fromStep);

const asLoaded = (config: Pipeline): LoadedPipeline => {
  const body = config as unknown as Record<string, unknown>;
  return {
    name: config.name,
    file: '',
    text: '',
    config,
    body,
    hash: contentHash(body),
    uses: [],
    match: null,
    standing: UNRESTRICTED,
  };
};

function contextOf({ source, replay, samples, pipeline }: Batch, receivedAt: number): TriggerContext {
  const what =
    replay.kind === 'step'
      ? `step ${replay.stepName}, ${samples.length} recorded executions`
      : `steps ${replay.fromStep} to ${replay.toStep}, ${samples.length} recorded runs`;
  return {
    source,
    pipeline: pipeline.name,
    severity: null,
    labels: {},
    annotations: {},
    summary: `Replay of ${what}`,
    fingerprint: null,
    metadata: {},
    raw: null,
    receivedAt,
  };
}
