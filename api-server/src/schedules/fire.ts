import { limitedNamespace } from '@signalbox/crds';
import type { LoadedPipeline } from '../definitions/snapshot.ts';
import type { ConcurrencyGroups } from '../runs/run/concurrency-groups.ts';
import type { ConcurrencyGroup } from '../runs/state/concurrency-group.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import type { SharedQueue } from '../triggers/intake-deps.ts';
import { overTenantLimit, type TenantLoad } from '../triggers/tenant-limits.ts';
import { joinSharedGroup } from '../triggers/shared-queue.ts';
import { newRunRow, type NewRun, teamOf } from '../runs/state/new-run.ts';
import type { NewRunRecord } from '../runs/state/records.ts';

export interface FireDeps<Tx> {
  write<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
  /** False when this fire was taken before, by whatever process. */
  takeFire(tx: Tx, pipeline: string, fire: { at: number; now: number }): Promise<boolean>;
  /** As in intake. */
  storable?(pipeline: LoadedPipeline): LoadedPipeline;
  keepDefinition(tx: Tx, pipeline: LoadedPipeline): Promise<void>;
  /** Absent where no namespace has limits. */
  tenantLoad?: TenantLoad<Tx>;
  insertRun(tx: Tx, row: NewRunRecord): Promise<unknown>;
  concurrencyGroups: ConcurrencyGroups;
  /** Places in concurrency groups where several processes share the database. */
  shared?: Pick<SharedQueue<Tx>, 'placesLeft' | 'place' | 'makeRoom'>;
  concurrencyGroupOf(pipeline: LoadedPipeline, context: TriggerContext): ConcurrencyGroup | null;
  /** As in intake: whether the runs that have not ended leave no memory for one of this namespace. */
  isFull(namespace: string | null): boolean;
  now(): number;
  newId(now: number): string;
  begin(run: NewRun, state: 'queued'): void;
}

export type Fired =
  | { started: true; runId: string }
  | { started: false; reason: 'taken' | 'limit' | 'suspended' | 'not_listed' };

/**
 * Starts the run of one fire, at most once per (pipeline, time); it waits for a slot like a resumed run.
 * `at` in milliseconds. Testing pipelines run too: their schedule is their author's word.
 */
export async function fire<Tx>(deps: FireDeps<Tx>, pipeline: LoadedPipeline, at: number): Promise<Fired> {
  if (pipeline.config.suspend) return { started: false, reason: 'suspended' };
  if (!pipeline.standing.admitted) return { started: false, reason: 'not_listed' };
  const run = scheduledRun(deps, pipeline, at);
  const { concurrencyGroup } = run;
  let refused = hasNoPlace(deps, run);
  const taken = await deps
    .write(async (tx) => {
      const open =
        concurrencyGroup !== null && deps.shared ? (await deps.shared.placesLeft(tx, concurrencyGroup)) > 0 : null;
      if (open !== null) refused ||= !open && concurrencyGroup?.onLimit === 'reject';
      const { now } = deps;
      refused ||= (await overTenantLimit(deps.tenantLoad, tx, pipeline, { now: now(), also: 0 })) !== null;
      return store(deps, tx, { run, at, refused, open });
    })
    .catch((error: unknown) => {
      if (concurrencyGroup) deps.concurrencyGroups.leave(concurrencyGroup, run.id);
      throw error;
    });
  if (taken && !refused) {
    deps.begin(run, 'queued');
    return { started: true, runId: run.id };
  }
  if (concurrencyGroup) deps.concurrencyGroups.leave(concurrencyGroup, run.id);
  return { started: false, reason: taken ? 'limit' : 'taken' };
}

/** Of memory, or in its concurrency group, where it takes the place that there is. */
function hasNoPlace<Tx>(deps: FireDeps<Tx>, { id, pipeline, concurrencyGroup }: NewRun): boolean {
  if (deps.isFull(limitedNamespace(pipeline.standing))) return true;
  if (deps.shared || concurrencyGroup?.onLimit !== 'reject') return false;
  return !deps.concurrencyGroups.tryTake(concurrencyGroup, id);
}

interface Scheduled {
  run: NewRun;
  at: number;
  /** The fire is used up, and no run comes of it. */
  refused: boolean;
  /** What a concurrency group said that processes share; null where there is none. */
  open: boolean | null;
}

async function store<Tx>(deps: FireDeps<Tx>, tx: Tx, { run, at, refused, open }: Scheduled): Promise<boolean> {
  const { context, team, id, triggeredAt } = run;
  if (!(await deps.takeFire(tx, run.pipeline.name, { at, now: deps.now() }))) return false;
  if (refused) return true;
  run.pipeline = deps.storable?.(run.pipeline) ?? run.pipeline;
  const { pipeline } = run;
  await deps.keepDefinition(tx, pipeline);
  await deps.insertRun(
    tx,
    newRunRow({ pipeline, context, team, dedupKey: null }, { id, status: 'queued', now: triggeredAt }),
  );
  const { concurrencyGroup } = run;
  if (deps.shared)
    await joinSharedGroup(deps.shared, tx, { runId: id, concurrencyGroup, open, entered: open === true });
  return true;
}

function scheduledRun<Tx>(deps: FireDeps<Tx>, pipeline: LoadedPipeline, at: number): NewRun {
  const now = deps.now();
  const context = contextOf(pipeline, at, now);
  return {
    id: deps.newId(now),
    pipeline,
    context,
    team: scheduledTeam(pipeline),
    stage: pipeline.config.stage,
    triggeredAt: now,
    concurrencyGroup: deps.concurrencyGroupOf(pipeline, context),
    owner: null,
    prior: [],
  };
}

/** A team says who approves, so the author of a namespace with limits chooses none. */
export const scheduledTeam = (pipeline: LoadedPipeline): string | null =>
  teamOf(pipeline, limitedNamespace(pipeline.standing) === null ? (pipeline.config.schedule?.team ?? null) : null);

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
