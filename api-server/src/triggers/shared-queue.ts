import type { Capacity } from '../runs/run/capacity.ts';
import type { Lane } from '../runs/state/lane.ts';
import type { RunRequest } from '../runs/state/new-run.ts';
import type { IntakeDeps, SharedQueue } from './intake-deps.ts';

/** A run that may come, and what its lane said. */
export interface Knocking {
  readonly lane: Lane | null;
  open: boolean | null;
}

/** Notes which lanes are open; answers how many runs wait already, where one of these may have to. */
export async function lookElsewhere<Tx>(
  shared: SharedQueue<Tx>,
  tx: Tx,
  { plans, capacity }: { plans: readonly Knocking[]; capacity: Capacity },
): Promise<number> {
  const before = new Map<string, number>();
  for (const plan of plans) {
    const { lane } = plan;
    if (lane === null) continue;
    const also = before.get(lane.key) ?? 0;
    plan.open = await shared.laneIsOpen(tx, lane, also);
    before.set(lane.key, also + 1);
  }
  const mayWait = capacity.active() + plans.length > capacity.max || plans.some(({ open }) => open === false);
  return mayWait ? shared.waiting(tx) : 0;
}

/** Puts a stored run into its lane, inside or waiting. */
export async function joinSharedLane<Tx>(
  shared: Pick<SharedQueue<Tx>, 'place' | 'makeRoom'>,
  tx: Tx,
  { runId, lane, open, entered }: Knocking & { runId: string; entered: boolean },
): Promise<void> {
  if (lane === null) return;
  await shared.place(tx, lane, { runId, entered });
  if (!open && lane.onLimit === 'cancel_running') await shared.makeRoom(tx, lane, runId);
}

type RoomDeps<Tx> = Pick<IntakeDeps<Tx>, 'write' | 'capacity' | 'laneOf' | 'maxQueued' | 'maxInLanes'>;

/** What a new run would find now, for a dry run. */
export async function sharedRoomFor<Tx>(
  { write, capacity, laneOf, maxQueued, maxInLanes }: RoomDeps<Tx>,
  shared: SharedQueue<Tx>,
  request: Omit<RunRequest, 'dedupKey'>,
): Promise<'accepted' | 'queued' | 'at_capacity'> {
  const lane = laneOf(request);
  const { open, waiting } = await write(async (tx) => ({
    open: lane === null || (await shared.laneIsOpen(tx, lane)),
    waiting: await shared.waiting(tx),
  }));
  if (!open && lane?.onLimit === 'reject') return 'at_capacity';
  const hasSlot = capacity.active() < capacity.max;
  if (hasSlot && open) return 'accepted';
  return waiting < (hasSlot ? maxInLanes : maxQueued) ? 'queued' : 'at_capacity';
}
