/** What a delivery asked for, and what there was. */
export interface Shortage {
  /** Slots taken, and slots of the service. */
  active: number;
  max: number;
  /** Runs of the delivery that found no room; all of them start or none. */
  wanted: number;
  /** Runs that may wait for a slot; zero where none may. */
  maxQueued: number;
}

/** Why a delivery found no room in the service and what to do about it, in one sentence. */
export function noRoom({ active, max, wanted, maxQueued }: Shortage): string {
  const free = max - active;
  if (free >= wanted) {
    return 'too many runs wait for a place in their own pipelines (concurrency.max_queued); try again later';
  }
  if (wanted > Math.max(max, maxQueued)) {
    return `this delivery needs ${wanted} slots at once and the service has ${max}: raise concurrency.max_runs, or let runs wait with concurrency.on_full: queue`;
  }
  const taken =
    free > 0
      ? `it needs ${wanted} slots at once and ${free} of ${max} are free`
      : `every slot is taken (concurrency.max_runs is ${max})`;
  const waiting = maxQueued > 0 ? ', and too many runs wait already (concurrency.max_queued)' : '';
  return `${taken}${waiting}; try again later`;
}

/** The same for a pipeline whose own `concurrency` rejects what comes over its limit. */
export const noPlace = (pipeline: string, limit: number): string =>
  `pipeline "${pipeline}" lets ${limit} of its runs run at a time (its own concurrency.limit); try again later`;

export const NO_MEMORY =
  'the runs that have not ended, or those of this namespace, hold as much memory as they may, most of them wait: decide their approvals, or cancel some; try again later';
