import type { LoadedPipeline } from '../definitions/snapshot.ts';
import type { Lane, Lanes } from '../runs/lanes.ts';
import type { TriggerContext } from '../runs/model.ts';
import { newRunRow, type NewRun } from '../runs/new-run.ts';
import type { NewRunRecord } from '../runs/records.ts';

export interface FireDeps<Tx> {
  write<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
  /** False when this fire was taken before, by whatever process. */
  takeFire(tx: Tx, pipeline: string, at: number): Promise<boolean>;
  keepDefinition(tx: Tx, pipeline: LoadedPipeline): Promise<void>;
  insertRun(tx: Tx, row: NewRunRecord): Promise<void>;
  lanes: Lanes;
  laneOf(pipeline: LoadedPipeline, context: TriggerContext): Lane | null;
  now(): number;
  newId(now: number): string;
  begin(run: NewRun, state: 'queued'): void;
}

export type Fired = { started: true; runId: string } | { started: false; reason: 'taken' | 'limit' | 'suspended' };

/**
 * Starts the run of one fire, at most once per (pipeline, time); it waits for a slot like a resumed run (Design 4).
 * `at` in milliseconds. Testing pipelines run too: their schedule is their author's word.
 */
export async function fire<Tx>(deps: FireDeps<Tx>, pipeline: LoadedPipeline, at: number): Promise<Fired> {
  if (pipeline.config.suspend) return { started: false, reason: 'suspended' };
  const now = deps.now();
  const id = deps.newId(now);
  const context = contextOf(pipeline, at, now);
  const team = pipeline.config.schedule?.team ?? null;
  const lane = deps.laneOf(pipeline, context);
  const refused = lane?.onLimit === 'reject' && !deps.lanes.tryTake(lane, id);
  let taken: boolean;
  try {
    taken = await deps.write(async (tx) => {
      if (!(await deps.takeFire(tx, pipeline.name, at))) return false;
      if (refused) return true;
      await deps.keepDefinition(tx, pipeline);
      await deps.insertRun(tx, newRunRow({ pipeline, context, team, dedupKey: null }, { id, status: 'queued', now }));
      return true;
    });
  } catch (error) {
    if (lane) deps.lanes.leave(lane, id);
    throw error;
  }
  if (taken && !refused) {
    deps.begin({ id, pipeline, context, team, stage: pipeline.config.stage, triggeredAt: now, lane, prior: [] }, 'queued');
    return { started: true, runId: id };
  }
  if (lane) deps.lanes.leave(lane, id);
  return { started: false, reason: taken ? 'limit' : 'taken' };
}

function contextOf({ name, config }: LoadedPipeline, at: number, receivedAt: number): TriggerContext {
  const { schedule } = config;
  return {
    source: 'schedule',
    pipeline: name,
    severity: schedule?.severity ?? null,
    labels: schedule?.labels ?? {},
    annotations: {},
    summary: schedule?.summary ?? null,
    fingerprint: null,
    metadata: { scheduled_for: new Date(at).toISOString() },
    raw: null,
    receivedAt,
  };
}
