import { EXACT, type Scale, SKETCHED } from './durations.ts';
import type { Sketch } from './sketch.ts';
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

/** Durations of some runs: all of each, all but the waiting for people, and that waiting, of those that had it. */
export type Timed<D> = Record<'total' | 'machine' | 'waiting', D>;

export interface RunTally<D = unknown> {
  add(kind: RunKind, times: RunTimes): void;
  /** The durations of a pipeline or a bucket of time, to which more may be added; each belongs to one of either. */
  timed(by: 'pipeline' | 'bucket', of: string | number): Timed<D>;
  /** What was added, by pipeline, team, status and bucket of time; a group may come in several parts. */
  ended(): RunSum[];
  percentiles(by: By): Percentile[];
}

export interface TallyScope {
  /** Absent for one bucket. */
  bucketMs?: number;
}

/** Adds up runs one by one, for figures of what no sum is kept of. */
export const exactTally = (scope: TallyScope): RunTally<number[]> => tallyOf(EXACT, scope);
/** The same with percentiles within 1%, however many there are. */
export const sketchedTally = (scope: TallyScope): RunTally<Sketch> => tallyOf(SKETCHED, scope);

function tallyOf<D>(scale: Scale<D>, { bucketMs }: TallyScope): RunTally<D> {
  const places = new Map<RunKind, Map<number, Place<D>>>();
  const groups = { pipeline: new Map<string, Timed<D>>(), bucket: new Map<string, Timed<D>>() };
  const newTimed = (): Timed<D> => ({ total: scale.empty(), machine: scale.empty(), waiting: scale.empty() });
  const timed: RunTally<D>['timed'] = (by, of) => at(groups[by], String(of), newTimed);
  const newPlace = (kind: RunKind, bucket: number): Place<D> => ({
    kind,
    sum: { ...kind, bucket, runs: 0, durationMs: 0 },
    groups: [timed('pipeline', kind.pipeline), timed('bucket', bucket)],
  });
  const placeOf = (kind: RunKind, bucket: number): Place<D> =>
    at(at(places, kind, newBuckets<D>), bucket, () => newPlace(kind, bucket));
  const together = (): Timed<D> => {
    const each = [...groups.bucket.values()];
    const of = (what: keyof Timed<D>): D => scale.merged(each.map((one) => one[what]));
    return { total: of('total'), machine: of('machine'), waiting: of('waiting') };
  };
  // Most runs are of the kind and the bucket of the one before, and there are hundreds of thousands.
  let last: Place<D> | null = null;
  return {
    timed,
    add: (kind, { triggeredAt, took, waited }) => {
      const bucket = bucketMs === undefined ? 0 : triggeredAt - (triggeredAt % bucketMs);
      if (last?.kind !== kind || last.sum.bucket !== bucket) last = placeOf(kind, bucket);
      last.sum.runs += 1;
      last.sum.durationMs += took;
      const total = scale.keyOf(took);
      const machine = waited === null ? total : scale.keyOf(took - waited);
      for (const group of last.groups) {
        scale.add(group.total, total);
        scale.add(group.machine, machine);
        if (waited !== null) scale.add(group.waiting, scale.keyOf(waited));
      }
    },
    ended: () => [...places.values()].flatMap((buckets) => [...buckets.values()].map(({ sum }) => sum)),
    percentiles: (by) =>
      [...(by === 'all' ? [['', together()] as const] : groups[by])].flatMap(([of, group]) =>
        percentileOf(of, group, scale),
      ),
  };
}

/** What a run of a kind in a bucket adds to. */
interface Place<D> {
  kind: RunKind;
  sum: RunSum;
  groups: readonly Timed<D>[];
}

const newBuckets = <D>(): Map<number, Place<D>> => new Map();

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function percentileOf<D>(of: string, { total, machine, waiting }: Timed<D>, { p95 }: Scale<D>): Percentile[] {
  const seconds = (durations: D): number | null => {
    const ms = p95(durations);
    return ms === null ? null : ms / 1000;
  };
  const all = seconds(total);
  if (all === null) return [];
  return [{ of, seconds: all, machineSeconds: seconds(machine) ?? all, waitingSeconds: seconds(waiting) }];
}
