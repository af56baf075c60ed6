import { fitTogether } from '../runs/state/field-sizes.ts';
import type { ConcurrencyGroup } from '../runs/state/concurrency-group.ts';
import { newRunRow, rawOnce, type RunRequest } from '../runs/state/new-run.ts';
import { chooseAlone, chooseUncovered, type Choice, covers, type Decided } from './coverage.ts';
import type { IntakeDeps, IntakeRequest } from './intake-deps.ts';
import { createLimits } from './limits.ts';
import { isStarted, type Verdict } from './model.ts';
import { noPlace, noRoom } from './no-room.ts';
import { joinSharedGroup, lookElsewhere } from './shared-queue.ts';

interface Plan extends Choice {
  request: RunRequest;
  id: string;
  /** The earlier context of the same delivery that has the same fingerprint. */
  twin: Plan | null;
  /** Why the service, or the pipeline's namespace, may start no run now; null where it may. */
  overLimit: string | null;
  concurrencyGroup: ConcurrencyGroup | null;
  owner: number | null;
  /** Whether the concurrency group has a place, by what all processes have stored; null where this process has the concurrency group to itself. */
  open: boolean | null;
}
type Room = 'running' | 'queued' | 'none' | 'group_full' | 'over_limit';
/** Null is the room of a duplicate: it needs none. `elsewhere`: runs that wait for whichever process has room. */
type Admission = { plans: Plan[]; rooms: (Room | null)[]; elsewhere: number };

/** Further writes of the transaction that stores the runs; it may run twice, like the transaction. */
type Alongside<Tx> = (tx: Tx, decided: Decided[]) => Promise<void>;

/**
 * Known, running stage and not suspended: what is left is duplicate, capacity, row, in one transaction.
 * Several requests are one delivery: what needs a slot or a place in the queue gets in together or not at all. Rejects with `unavailable` when nothing was stored.
 */
export async function intake<Tx>(
  deps: IntakeDeps<Tx>,
  requests: IntakeRequest[],
  alongside?: Alongside<Tx>,
): Promise<Verdict[]> {
  const now = deps.now();
  const slots = reservation(deps);
  const rawOf = rawOnce();
  for (const { pipeline } of requests) await deps.compileKey(pipeline);
  let admission: Admission;
  try {
    admission = await deps.write(async (tx) => {
      const plans = await planAll(deps, tx, requests, now);
      const elsewhere = deps.shared ? await lookElsewhere(deps.shared, tx, { plans, capacity: deps.capacity }) : 0;
      const rooms = slots.reserve(plans, elsewhere);
      for (const [index, plan] of plans.entries()) {
        const room = rooms[index];
        if (room === 'running' || room === 'queued') await store(deps, plan, { tx, status: room, now, rawOf });
      }
      const found = { plans, rooms, elsewhere };
      await alongside?.(
        tx,
        plans.map((plan) => decidedOf(plan, verdictOf(deps, found, plan))),
      );
      return found;
    });
  } catch (error) {
    slots.giveBack();
    throw error;
  }
  const verdicts = admission.plans.map((plan) => {
    const verdict = verdictOf(deps, admission, plan);
    if (isStarted(verdict)) begin(deps, plan, { state: verdict.status === 'queued' ? 'queued' : 'running', now });
    return verdict;
  });
  slots.settle();
  return verdicts;
}

/** Null where dedup is off: by the service, by the pipeline, or for want of a fingerprint. */
function dedupKey(
  deps: Pick<IntakeDeps<never>, 'dedup'>,
  { pipeline, context, rerunOf }: IntakeRequest,
): string | null {
  if (rerunOf !== undefined) return null;
  const enabled = pipeline.config.trigger?.dedup?.enabled ?? deps.dedup.enabled;
  return enabled ? context.fingerprint : null;
}

async function planAll<Tx>(deps: IntakeDeps<Tx>, tx: Tx, requests: IntakeRequest[], now: number): Promise<Plan[]> {
  const seen = new Map<string, Plan>();
  const plans: Plan[] = [];
  const fit = fitTogether();
  const limits = createLimits(deps, tx, now);
  for (const asked of requests) {
    const key = dedupKey(deps, asked);
    const id = deps.newId(now);
    const name = `${asked.pipeline.name}\n${key}`;
    const twin = key === null ? null : (seen.get(name) ?? null);
    const choice = twin ? repeatOf(twin, asked, now) : await choose(deps, tx, asked, now);
    const { context } = choice.request;
    const request = { ...choice.request, context: fit(context), dedupKey: dedupKey(deps, choice.request) };
    const overLimit = choice.duplicate ? null : await limits.over(request);
    const starts = !choice.duplicate && overLimit === null;
    const concurrencyGroup = starts ? deps.concurrencyGroupOf(request) : null;
    const plan = { ...choice, request, id, twin, overLimit, concurrencyGroup, owner: null, open: null };
    if (!twin) seen.set(name, plan);
    plans.push(plan);
  }
  return plans;
}

/** One delivery names the same alert twice: the first of them gets the run. */
function repeatOf(twin: Plan, request: IntakeRequest, now: number): Choice {
  const duplicate = twin.duplicate ?? { id: twin.id, status: 'running', triggeredAt: now };
  return { request, duplicate, coveredBy: [duplicate], covers: { ...twin.covers, keys: [] } };
}

type Choosing<Tx> = Pick<IntakeDeps<Tx>, 'dedup' | 'findDuplicate' | 'findCovering'>;

/** The alert that the run is for, and the run that suppresses it. */
function choose<Tx>(deps: Choosing<Tx>, tx: Tx, request: IntakeRequest, now: number): Promise<Choice> {
  const key = dedupKey(deps, request);
  return request.merged && key !== null
    ? chooseUncovered(deps, tx, request, now)
    : chooseAlone(deps, tx, { request, key, now });
}

/** The same for a dry run. */
export const chooseNow = <Tx>(
  deps: Choosing<Tx> & Pick<IntakeDeps<Tx>, 'now'>,
  tx: Tx,
  request: IntakeRequest,
): Promise<Choice> => choose(deps, tx, request, deps.now());

type Reserving = Pick<IntakeDeps<never>, 'capacity' | 'concurrencyGroups' | 'maxQueued' | 'maxInGroups'>;

/** What a new run would find now, for a dry run. */
export function roomFor(
  {
    capacity,
    concurrencyGroups,
    concurrencyGroupOf,
    maxQueued,
    maxInGroups,
  }: Reserving & Pick<IntakeDeps<never>, 'concurrencyGroupOf'>,
  request: IntakeRequest,
): 'accepted' | 'queued' | 'at_capacity' {
  const concurrencyGroup = concurrencyGroupOf(request);
  const waits = concurrencyGroup !== null && concurrencyGroups.full(concurrencyGroup);
  const waiting = capacity.waiting() + capacity.announced() + concurrencyGroups.waiting();
  if (waits && concurrencyGroup.onLimit === 'reject') return 'at_capacity';
  if (capacity.active() < capacity.max && !waits) return 'accepted';
  return waiting < (capacity.active() < capacity.max ? maxInGroups : maxQueued) ? 'queued' : 'at_capacity';
}

/** Holds slots, places in concurrency groups and places to wait for the runs of one delivery; a job that runs twice starts over. */
function reservation({ capacity, concurrencyGroups, maxQueued, maxInGroups }: Reserving) {
  let held = 0;
  let announced = 0;
  let elsewhere = 0;
  const places: { concurrencyGroup: ConcurrencyGroup; id: string }[] = [];
  const settle = () => {
    capacity.announce(-announced);
    announced = 0;
  };
  const giveBack = () => {
    for (; held > 0; held -= 1) capacity.release();
    for (const { concurrencyGroup, id } of places.splice(0)) concurrencyGroups.leave(concurrencyGroup, id);
    settle();
  };
  const inConcurrencyGroup = ({ concurrencyGroup, id, duplicate, overLimit, open }: Plan): Room | null => {
    if (duplicate) return null;
    if (overLimit !== null) return 'over_limit';
    if (concurrencyGroup === null) return 'running';
    if (open !== null) return open ? 'running' : concurrencyGroup.onLimit === 'reject' ? 'group_full' : 'queued';
    if (concurrencyGroups.tryTake(concurrencyGroup, id)) {
      places.push({ concurrencyGroup, id });
      return 'running';
    }
    return concurrencyGroup.onLimit === 'reject' ? 'group_full' : 'queued';
  };
  const count = (rooms: readonly (Room | null)[], wanted: Room) => rooms.filter((room) => room === wanted).length;
  /** Runs that arrived in the same moment count before they are in a queue, so that none waits beyond the limit. */
  const mayWait = (more: number, max: number): boolean => {
    const waiting = elsewhere + capacity.waiting() + capacity.announced() + concurrencyGroups.waiting();
    if (more > 0 && waiting + more > max) return false;
    announced = more;
    capacity.announce(more);
    return true;
  };
  return {
    reserve: (plans: Plan[], waitingElsewhere: number): (Room | null)[] => {
      giveBack();
      elsewhere = waitingElsewhere;
      const rooms = plans.map(inConcurrencyGroup);
      const queued = count(rooms, 'queued');
      const wanted = count(rooms, 'running');
      if (capacity.tryTake(wanted)) {
        held = wanted;
        if (mayWait(queued, maxInGroups)) return rooms;
        giveBack();
        return rooms.map((room) => room && 'none');
      }
      giveBack();
      const room: Room = mayWait(wanted + queued, maxQueued) ? 'queued' : 'none';
      return rooms.map((one) => (one === 'running' || one === 'queued' ? room : one));
    },
    giveBack,
    /** What was stored is on its way into its queue. */
    settle,
  };
}

interface Writing<Tx> {
  tx: Tx;
  status: 'running' | 'queued';
  now: number;
  rawOf: ReturnType<typeof rawOnce>;
}

async function store<Tx>(deps: IntakeDeps<Tx>, plan: Plan, { tx, status, now, rawOf }: Writing<Tx>): Promise<void> {
  const { id } = plan;
  const pipeline = deps.storable?.(plan.request.pipeline) ?? plan.request.pipeline;
  const request = { ...plan.request, pipeline };
  plan.request = request;
  await deps.keepDefinition(tx, pipeline);
  plan.owner = await deps.insertRun(tx, newRunRow(request, { id, status, now }, rawOf));
  if (plan.covers.keys.length > 0) await deps.keepCoverage(tx, id, plan.covers);
  if (request.prior?.length) await deps.insertPrior?.(tx, id, request);
  const { concurrencyGroup, open } = plan;
  if (deps.shared)
    await joinSharedGroup(deps.shared, tx, { runId: id, concurrencyGroup, open, entered: status === 'running' });
}

type Concluding = Pick<IntakeDeps<never>, 'capacity' | 'begin' | 'definitionKept' | 'maxQueued'>;

const decidedOf = ({ request, coveredBy }: Plan, verdict: Verdict): Decided => ({
  verdict,
  context: request.context,
  coveredBy,
});

function verdictOf(deps: Concluding, { plans, rooms, elsewhere }: Admission, plan: Plan): Verdict {
  const { pipeline, context } = plan.request;
  const { source, severity, summary } = context;
  const named = { source, pipeline: pipeline.name, severity, summary };
  const room = rooms[plans.indexOf(plan.twin ?? plan)] ?? null;
  // A twin of what was refused is refused with it.
  if (room === 'none') return refused(deps, rooms.filter((one) => one === 'none').length);
  if (room === 'group_full') return refusedByGroup(plan);
  if (room === 'over_limit') return refusedByLimit(deps, plan);
  const { duplicate } = plan;
  if (duplicate) {
    const reason = `${covers(duplicate.id, source)} and is ${duplicate.status}`;
    return { status: 'deduplicated', runId: duplicate.id, ...named, reason };
  }
  return room === 'queued'
    ? { status: 'queued', runId: plan.id, ...named, position: elsewhere + deps.capacity.waiting() + 1 }
    : { status: 'accepted', runId: plan.id, ...named };
}

function refused({ capacity, maxQueued }: Concluding, wanted: number): Verdict {
  const [active, max] = [capacity.active(), capacity.max];
  return atCapacity(active, max, noRoom({ active, max, wanted, maxQueued }));
}

function refusedByGroup({ request, concurrencyGroup }: Plan): Verdict {
  const limit = concurrencyGroup?.limit ?? 0;
  return atCapacity(limit, limit, noPlace(request.pipeline.name, limit));
}

function refusedByLimit({ capacity }: Concluding, { overLimit, twin }: Plan): Verdict {
  return atCapacity(capacity.active(), capacity.max, overLimit ?? twin?.overLimit ?? '');
}

const atCapacity = (activeRuns: number, maxConcurrentRuns: number, message: string): Verdict => ({
  status: 'at_capacity',
  message,
  activeRuns,
  maxConcurrentRuns,
  retryAfterSeconds: 5,
});

function begin(
  deps: Concluding,
  { request, id, concurrencyGroup, owner }: Plan,
  { state, now }: { state: 'running' | 'queued'; now: number },
): void {
  const { pipeline, context, team, rerunOf, prior = [] } = request;
  const { stage } = pipeline.config;
  deps.definitionKept(pipeline.hash);
  const run = { id, pipeline, context, team, stage, triggeredAt: now, concurrencyGroup, owner, rerunOf, prior };
  deps.begin(run, state);
}
