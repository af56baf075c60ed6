import type { Counter } from '../runs/state/records.ts';
import { type Series, STORED_SERIES } from './series.ts';
import { sizeOf } from './stored-series.ts';

/** Characters of the text of all series that names make, and those of them that the pipelines of one owner make. */
const MOST = { all: 16 * 2 ** 20, ofOwner: 4 * 2 ** 20 };
export type MostText = typeof MOST;

/** Labels that have few values whatever a definition says, and how many about. They are the last ones of a series. */
const FEW = new Map([
  ['status', 4],
  ['direction', 2],
  ['decision', 2],
  ['outcome', 3],
  ['source', 2],
  ['grade', 3],
]);
const OTHER = 'other';

export interface BoundedSeries {
  /** The counter under labels that have room. */
  bound(counter: Counter): Counter;
  /** Labels that a metric has in the store; beyond the bound they are as new ones. */
  know(metric: string, labels: readonly string[]): void;
}

/**
 * Definitions name pipelines, steps and agents, and a series is kept for ever. Beyond the bound names other than the pipeline's count as
 * `other`, and so does the pipeline's where there are too many. `ownerOf` answers whose a pipeline is; null for the operator's own.
 */
export function boundedSeries(ownerOf: (pipeline: string) => string | null, most: MostText = MOST): BoundedSeries {
  const shares = {
    full: createShares(most),
    rest: createShares({ all: most.all / 10, ofOwner: most.ofOwner / 10 }),
  };
  const byMetric = new Map(STORED_SERIES.flatMap((series) => entriesOf(series, shares)));
  const ownerIn = ({ pipelineAt }: Names, labels: readonly string[]) =>
    pipelineAt < 0 ? null : ownerOf(labels[pipelineAt] ?? '');
  return {
    bound: (counter) => {
      const names = byMetric.get(counter.metric);
      if (!names) return counter;
      const { labels } = counter;
      const owner = () => ownerIn(names, labels);
      if (names.full.admits(keyOf(names, labels), owner)) return counter;
      const rest = restOf(names, labels);
      if (names.rest.admits(keyOf(names, rest), owner)) return { ...counter, labels: rest };
      return { ...counter, labels: rest.map((label, at) => (at === names.pipelineAt ? OTHER : label)) };
    },
    know: (metric, labels) => {
      const names = byMetric.get(metric);
      if (!names) return;
      const key = keyOf(names, labels);
      const room = names.others.size > 0 && key === keyOf(names, restOf(names, labels)) ? names.rest : names.full;
      room.admits(key, () => ownerIn(names, labels));
    },
  };
}

/** How the labels of one series are bounded. */
interface Names {
  /** Labels before those that have few values. */
  count: number;
  /** -1 where there is none. */
  pipelineAt: number;
  /** Places of the labels that become `other`. */
  others: ReadonlySet<number>;
  full: Room;
  /** For what has no room in `full`. */
  rest: Room;
}

/** A histogram has its sum beside it under the same names. */
function entriesOf(series: Series, shares: Record<'full' | 'rest', Shares>): [string, Names][] {
  const { name, labels, type } = series;
  const named = labels.filter((label) => !FEW.has(label));
  const others = [...named.keys()].filter((at) => named[at] !== 'pipeline' && named[at] !== 'executor');
  const lines = labels.reduce((product, label) => product * (FEW.get(label) ?? 1), 1);
  const size = (key: string) => lines * sizeOf(series, key);
  const names = {
    count: named.length,
    pipelineAt: labels.indexOf('pipeline'),
    others: new Set(others),
    full: createRoom(size, shares.full),
    rest: createRoom(size, shares.rest),
  };
  return type === 'histogram'
    ? [
        [name, names],
        [`${name}_sum`, names],
      ]
    : [[name, names]];
}

const keyOf = ({ count }: Names, labels: readonly string[]): string => labels.slice(0, count).join('\n');

const restOf = ({ others }: Names, labels: readonly string[]): string[] =>
  labels.map((label, at) => (label !== '' && others.has(at) ? OTHER : label));

interface Room {
  admits(key: string, owner: () => string | null): boolean;
}

function createRoom(sizeOfKey: (key: string) => number, shares: Shares): Room {
  const seen = new Set<string>();
  return {
    admits: (key, ownerOf) => {
      if (seen.has(key)) return true;
      const admitted = shares.take(sizeOfKey(key), ownerOf);
      if (admitted) seen.add(key);
      return admitted;
    },
  };
}

/** What all series and owners have together. */
interface Shares {
  take(size: number, owner: () => string | null): boolean;
}

function createShares(most: MostText): Shares {
  let left = most.all;
  const leftOf = new Map<string, number>();
  return {
    take: (size, ownerOf) => {
      if (size > left) return false;
      const owner = ownerOf();
      const own = owner === null ? left : (leftOf.get(owner) ?? most.ofOwner);
      if (size > own) return false;
      left -= size;
      if (owner !== null) leftOf.set(owner, own - size);
      return true;
    },
  };
}
