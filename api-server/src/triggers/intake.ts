import type { Capacity } from '../runs/capacity.ts';
import { newRunRow, type NewRun, type RunRequest } from '../runs/new-run.ts';
import type { DuplicateKey, DuplicateRun, NewRunRecord } from '../runs/records.ts';
import type { Verdict } from './model.ts';

export interface IntakeDeps<Tx> {
  /** One transaction, durable when it resolves; the job may run twice. */
  write<T>(job: (tx: Tx) => Promise<T>): Promise<T>;
  findDuplicate(tx: Tx, key: DuplicateKey): Promise<DuplicateRun | null>;
  insertRun(tx: Tx, row: NewRunRecord): Promise<void>;
  /** Keeps the pipeline's resolved body under its hash. */
  keepDefinition(tx: Tx, pipeline: RunRequest['pipeline']): Promise<void>;
  /** Told once a delivery's definitions are durable, so that they are not written again. */
  definitionKept(hash: string): void;
  capacity: Capacity;
  /** Zero where `concurrency.on_full` is `reject`. */
  maxQueued: number;
  dedup: { enabled: boolean; windowSeconds: number };
  now(): number;
  newId(now: number): string;
  /** Called once the row is durable; a queued run waits for its slot first. */
  begin(run: NewRun, state: 'running' | 'queued'): void;
}

type Plan = { request: RunRequest; id: string; duplicate: DuplicateRun | null };
type Admission = { room: 'running' | 'queued' | 'none'; plans: Plan[] };

/**
 * Known, running stage and not suspended: what is left is duplicate, capacity, row (Design 4), in one transaction.
 * Several requests are one delivery and get in together or not at all. Rejects with `unavailable` when nothing was stored.
 */
export async function intake<Tx>(deps: IntakeDeps<Tx>, requests: Omit<RunRequest, 'dedupKey'>[]): Promise<Verdict[]> {
  const now = deps.now();
  const keyed = requests.map((request) => ({ ...request, dedupKey: dedupKey(deps, request) }));
  const slots = reservation(deps);
  let admission: Admission;
  try {
    admission = await deps.write(async (tx) => {
      const plans = await planAll(deps, tx, keyed, now);
      const fresh = plans.filter(({ duplicate }) => !duplicate);
      const room = slots.reserve(fresh.length);
      if (room !== 'none') for (const plan of fresh) await store(deps, plan, { tx, status: room, now });
      return { room, plans };
    });
  } catch (error) {
    slots.giveBack();
    throw error;
  }
  if (admission.room !== 'none') for (const { request } of admission.plans.filter(({ duplicate }) => !duplicate)) deps.definitionKept(request.pipeline.hash);
  return admission.plans.map((plan) => conclude(deps, plan, admission.room, now));
}

/** Null where dedup is off: by the service, by the pipeline, or for want of a fingerprint. */
function dedupKey(deps: Pick<IntakeDeps<never>, 'dedup'>, { pipeline, context }: Omit<RunRequest, 'dedupKey'>): string | null {
  const enabled = pipeline.config.trigger?.dedup?.enabled ?? deps.dedup.enabled;
  return enabled ? context.fingerprint : null;
}

async function planAll<Tx>(deps: IntakeDeps<Tx>, tx: Tx, requests: RunRequest[], now: number): Promise<Plan[]> {
  const seen = new Map<string, DuplicateRun>();
  const plans: Plan[] = [];
  for (const request of requests) {
    const { dedupKey: key, pipeline } = request;
    const id = deps.newId(now);
    const twin = `${pipeline.name}\n${key}`;
    const known = key === null ? null : (seen.get(twin) ?? (await suppressing(deps, tx, { pipeline, key, now })));
    if (!known) seen.set(twin, { id, status: 'running', triggeredAt: now });
    plans.push({ request, id, duplicate: known });
  }
  return plans;
}

interface Suspect {
  pipeline: RunRequest['pipeline'];
  key: string;
  now: number;
}

function suppressing<Tx>(deps: Pick<IntakeDeps<Tx>, 'dedup' | 'findDuplicate'>, tx: Tx, { pipeline, key, now }: Suspect) {
  const windowSeconds = pipeline.config.trigger?.dedup?.window_seconds ?? deps.dedup.windowSeconds;
  return deps.findDuplicate(tx, { pipelineName: pipeline.name, dedupKey: key, since: now - windowSeconds * 1000 });
}

/** The run that would suppress this request, for a dry run. */
export function dedupWindow<Tx>(
  deps: Pick<IntakeDeps<Tx>, 'dedup' | 'findDuplicate' | 'now'>,
  tx: Tx,
  request: Omit<RunRequest, 'dedupKey'>,
): Promise<DuplicateRun | null> {
  const key = dedupKey(deps, request);
  return key === null ? Promise.resolve(null) : suppressing(deps, tx, { pipeline: request.pipeline, key, now: deps.now() });
}

/** Holds slots for the runs of one delivery; a job that runs twice keeps what it still needs. */
function reservation({ capacity, maxQueued }: Pick<IntakeDeps<never>, 'capacity' | 'maxQueued'>) {
  let held = 0;
  const keep = (count: number) => {
    for (; held > count; held -= 1) capacity.release();
  };
  return {
    reserve: (count: number): Admission['room'] => {
      keep(count);
      if (capacity.tryTake(count - held)) {
        held = count;
        return 'running';
      }
      keep(0);
      return capacity.waiting() + count <= maxQueued ? 'queued' : 'none';
    },
    giveBack: () => keep(0),
  };
}

interface Writing<Tx> {
  tx: Tx;
  status: 'running' | 'queued';
  now: number;
}

async function store<Tx>(deps: IntakeDeps<Tx>, { request, id }: Plan, { tx, status, now }: Writing<Tx>): Promise<void> {
  await deps.keepDefinition(tx, request.pipeline);
  await deps.insertRun(tx, newRunRow(request, { id, status, now }));
}

function conclude(deps: Pick<IntakeDeps<never>, 'capacity' | 'begin'>, { request, id, duplicate }: Plan, room: Admission['room'], now: number): Verdict {
  const { pipeline, context, team } = request;
  const named = { source: context.source, pipeline: pipeline.name, severity: context.severity, summary: context.summary };
  if (duplicate) {
    const reason = `run ${duplicate.id} has the same fingerprint and is ${duplicate.status}`;
    return { status: 'deduplicated', runId: duplicate.id, ...named, reason };
  }
  if (room === 'none') {
    const { capacity } = deps;
    return { status: 'at_capacity', activeRuns: capacity.active(), maxConcurrentRuns: capacity.max, retryAfterSeconds: 5 };
  }
  const position = deps.capacity.waiting() + 1;
  deps.begin({ id, pipeline, context, team, stage: pipeline.config.stage, triggeredAt: now }, room);
  return room === 'queued' ? { status: 'queued', runId: id, ...named, position } : { status: 'accepted', runId: id, ...named };
}
