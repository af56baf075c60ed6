import { type Durations, exactDurations, sketchedDurations } from './durations.ts';
import type { By, Percentile, RunSum } from './sums.ts';

/** What many runs have in common; one object for them. */
export interface RunKind {
  pipeline: string;
  team: string | null;
  status: string;
}

/** Of one ended run, in milliseconds; `waited` is null where it asked nobody. */
export interface RunTimes {
  triggeredAt: number;
  took: number;
  waited: number | null;
}

export interface RunTally {
  add(kind: RunKind, times: RunTimes): void;
  /** By pipeline, team, status and bucket of time; a group may come in several parts. */
  ended(): RunSum[];
  percentiles(by: By): Percentile[];
}

interface Timed {
  total: Durations;
  machine: Durations;
  waiting: Durations;
}

/** Adds up runs one by one, for figures of what no sum is kept of. `bucketMs`: absent for one bucket; `isExact`: of the percentiles. */
export function tallyRuns({ bucketMs, isExact }: { bucketMs: number | undefined; isExact: boolean }): RunTally {
  const durations = isExact ? exactDurations : sketchedDurations;
  const timed = (): Timed => ({ total: durations(), machine: durations(), waiting: durations() });
  const sums = new Map<RunKind, Map<number, RunSum>>();
  const groups: Record<By, Map<string | number, Timed>> = {
    pipeline: new Map(),
    bucket: new Map(),
    all: new Map(),
  };
  const addTo = (by: By, of: string | number, { took, waited }: RunTimes): void => {
    const group = at(groups[by], of, timed);
    group.total.add(took);
    group.machine.add(took - (waited ?? 0));
    if (waited !== null) group.waiting.add(waited);
  };
  return {
    add: (kind, times) => {
      const bucket = bucketMs === undefined ? 0 : times.triggeredAt - (times.triggeredAt % bucketMs);
      const sum = at(at(sums, kind, newBuckets), bucket, () => ({ ...kind, bucket, runs: 0, durationMs: 0 }));
      sum.runs += 1;
      sum.durationMs += times.took;
      addTo('pipeline', kind.pipeline, times);
      addTo('bucket', bucket, times);
      addTo('all', '', times);
    },
    ended: () => [...sums.values()].flatMap((buckets) => [...buckets.values()]),
    percentiles: (by) => [...groups[by]].map(([of, group]) => percentileOf(String(of), group)),
  };
}

const newBuckets = (): Map<number, RunSum> => new Map();

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function percentileOf(of: string, { total, machine, waiting }: Timed): Percentile {
  const seconds = (durations: Durations) => (durations.p95() ?? 0) / 1000;
  const waited = waiting.p95();
  return {
    of,
    seconds: seconds(total),
    machineSeconds: seconds(machine),
    waitingSeconds: waited === null ? null : waited / 1000,
  };
}
