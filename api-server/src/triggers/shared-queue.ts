import type { Capacity } from '../runs/run/capacity.ts';
import type { ConcurrencyGroup } from '../runs/state/concurrency-group.ts';
import type { RunRequest } from '../runs/state/new-run.ts';
import type { IntakeDeps, SharedQueue } from './intake-deps.ts';

/** A run that may come, and what its concurrency group said. */
export interface Candidate {
  readonly concurrencyGroup: ConcurrencyGroup | null;
  open: boolean | null;
}

/** Notes which concurrency groups are open; answers how many runs wait already, where one of these may have to. */
export async function lookElsewhere<Tx>(
  shared: SharedQueue<Tx>,
  tx: Tx,
  { plans, capacity }: { plans: readonly Candidate[]; capacity: Capacity },
): Promise<number> {
  // Each is looked at once: it may have thousands of runs, and be that of all alerts.
  const left = new Map<string, number>();
  for (const plan of plans) {
    const { concurrencyGroup } = plan;
    if (concurrencyGroup === null) continue;
    const places = left.get(concurrencyGroup.key) ?? (await shared.placesLeft(tx, concurrencyGroup));
    plan.open = places > 0;
    left.set(concurrencyGroup.key, places - 1);
  }
  const mayWait = capacity.active() + plans.length > capacity.max || plans.some(({ open }) => open === false);
  return mayWait ? shared.waiting(tx) : 0;
}

/** Adds a stored run to its concurrency group, running or waiting. */
export async function joinSharedGroup<Tx>(
  shared: Pick<SharedQueue<Tx>, 'place' | 'makeRoom'>,
  tx: Tx,
  { runId, concurrencyGroup, open, entered }: Candidate & { runId: string; entered: boolean },
): Promise<void> {
  if (concurrencyGroup === null) return;
  await shared.place(tx, concurrencyGroup, { runId, entered });
  if (!open && concurrencyGroup.onLimit === 'cancel_running') await shared.makeRoom(tx, concurrencyGroup, runId);
}

type RoomDeps<Tx> = Pick<IntakeDeps<Tx>, 'write' | 'capacity' | 'concurrencyGroupOf' | 'maxQueued' | 'maxInGroups'>;

/** What a new run would find now, for a dry run. */
export async function sharedRoomFor<Tx>(
  { write, capacity, concurrencyGroupOf, maxQueued, maxInGroups }: RoomDeps<Tx>,
  shared: SharedQueue<Tx>,
  request: Omit<RunRequest, 'dedupKey'>,
): Promise<'accepted' | 'queued' | 'at_capacity'> {
  const concurrencyGroup = concurrencyGroupOf(request);
  const { open, waiting } = await write(async (tx) => ({
    open: concurrencyGroup === null || (await shared.placesLeft(tx, concurrencyGroup)) > 0,
    waiting: await shared.waiting(tx),
  }));
  if (!open && concurrencyGroup?.onLimit === 'reject') return 'at_capacity';
  const hasSlot = capacity.active() < capacity.max;
  if (hasSlot && open) return 'accepted';
  return waiting < (hasSlot ? maxInGroups : maxQueued) ? 'queued' : 'at_capacity';
}
