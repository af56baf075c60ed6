import type { Capacity } from '../runs/capacity.ts';
import type { Lane, Lanes } from '../runs/lanes.ts';
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
  /** The results that a rerun starts with. */
  insertPrior?(tx: Tx, runId: string, request: RunRequest): Promise<void>;
  capacity: Capacity;
  lanes: Lanes;
  /** The lane of the pipeline's `concurrency`, or null. */
  laneOf(request: Omit<RunRequest, 'dedupKey'>): Lane | null;
  /** Zero where `concurrency.on_full` is `reject`. */
  maxQueued: number;
  dedup: { enabled: boolean; windowSeconds: number };
  now(): number;
  newId(now: number): string;
  /** Called once the row is durable; a queued run waits for its slot first. */
  begin(run: NewRun, state: 'running' | 'queued'): void;
}

type Plan = { request: RunRequest; id: string; duplicate: DuplicateRun | null; lane: Lane | null };
type Room = 'running' | 'queued' | 'none' | 'lane_full';
type Admission = { plans: Plan[]; rooms: Room[] };

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
      const rooms = slots.reserve(plans);
      for (const [index, plan] of plans.entries()) {
        const room = rooms[index];
        if (!plan.duplicate && (room === 'running' || room === 'queued'))
          await store(deps, plan, { tx, status: room, now });
      }
      return { plans, rooms };
    });
  } catch (error) {
    slots.giveBack();
    throw error;
  }
  return admission.plans.map((plan, index) => conclude(deps, plan, admission.rooms[index] as Room, now));
}

/** Null where dedup is off: by the service, by the pipeline, or for want of a fingerprint. */
function dedupKey(
  deps: Pick<IntakeDeps<never>, 'dedup'>,
  { pipeline, context, rerunOf }: Omit<RunRequest, 'dedupKey'>,
): string | null {
  if (rerunOf !== undefined) return null;
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
    plans.push({ request, id, duplicate: known, lane: known ? null : deps.laneOf(request) });
  }
  return plans;
}

interface Suspect {
  pipeline: RunRequest['pipeline'];
  key: string;
  now: number;
}

function suppressing<Tx>(
  deps: Pick<IntakeDeps<Tx>, 'dedup' | 'findDuplicate'>,
  tx: Tx,
  { pipeline, key, now }: Suspect,
) {
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
  return key === null
    ? Promise.resolve(null)
    : suppressing(deps, tx, { pipeline: request.pipeline, key, now: deps.now() });
}

/** Holds slots and places in lanes for the runs of one delivery; a job that runs twice starts over. */
function reservation({ capacity, lanes, maxQueued }: Pick<IntakeDeps<never>, 'capacity' | 'lanes' | 'maxQueued'>) {
  let held = 0;
  const places: { lane: Lane; id: string }[] = [];
  const giveBack = () => {
    for (; held > 0; held -= 1) capacity.release();
    for (const { lane, id } of places.splice(0)) lanes.leave(lane, id);
  };
  const inLane = ({ lane, id, duplicate }: Plan): Room => {
    if (duplicate || lane === null) return 'running';
    if (lanes.tryTake(lane, id)) {
      places.push({ lane, id });
      return 'running';
    }
    return lane.onLimit === 'reject' ? 'lane_full' : 'queued';
  };
  return {
    reserve: (plans: Plan[]): Room[] => {
      giveBack();
      const rooms = plans.map(inLane);
      const wanted = plans.filter(({ duplicate }, index) => !duplicate && rooms[index] === 'running').length;
      if (capacity.tryTake(wanted)) {
        held = wanted;
        return rooms;
      }
      giveBack();
      const room: Room = capacity.waiting() + wanted <= maxQueued ? 'queued' : 'none';
      return rooms.map((one) => (one === 'running' ? room : one));
    },
    giveBack,
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
  if (request.prior?.length) await deps.insertPrior?.(tx, id, request);
}

function conclude(
  deps: Pick<IntakeDeps<never>, 'capacity' | 'begin' | 'definitionKept'>,
  { request, id, duplicate, lane }: Plan,
  room: Room,
  now: number,
): Verdict {
  const { pipeline, context, team } = request;
  const named = {
    source: context.source,
    pipeline: pipeline.name,
    severity: context.severity,
    summary: context.summary,
  };
  if (duplicate) {
    const reason = `run ${duplicate.id} has the same fingerprint and is ${duplicate.status}`;
    return { status: 'deduplicated', runId: duplicate.id, ...named, reason };
  }
  const { capacity } = deps;
  if (room === 'none') {
    return {
      status: 'at_capacity',
      activeRuns: capacity.active(),
      maxConcurrentRuns: capacity.max,
      retryAfterSeconds: 5,
    };
  }
  if (room === 'lane_full') {
    const limit = lane?.limit ?? 0;
    return { status: 'at_capacity', activeRuns: limit, maxConcurrentRuns: limit, retryAfterSeconds: 5 };
  }
  deps.definitionKept(pipeline.hash);
  const position = capacity.waiting() + 1;
  deps.begin(
    { id, pipeline, context, team, stage: pipeline.config.stage, triggeredAt: now, lane, prior: request.prior ?? [] },
    room,
  );
  return room === 'queued'
    ? { status: 'queued', runId: id, ...named, position }
    : { status: 'accepted', runId: id, ...named };
}
