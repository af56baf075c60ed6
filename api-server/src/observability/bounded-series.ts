import type { Counter } from '../runs/state/records.ts';
import { type Series, STORED_SERIES } from './series.ts';

/** Combinations of names that one series tells apart, and those of them that the pipelines of one owner make. */
const MOST = { all: 8_000, ofOwner: 2_000 };
export type MostNames = typeof MOST;

/** Labels that have few values whatever a definition says. They are the last ones of a series. */
const FEW = new Set(['status', 'direction', 'decision', 'outcome', 'source', 'grade']);
const OTHER = 'other';

export interface BoundedSeries {
  /** The counter under labels that have room. */
  bound(counter: Counter): Counter;
  /** Labels that a metric has in the store. */
  know(metric: string, labels: readonly string[]): void;
}

/**
 * Definitions name pipelines, steps and agents, and a series is kept for ever. Beyond the bound names other than the pipeline's count as
 * `other`, and so does the pipeline's where there are too many. `ownerOf` answers whose a pipeline is; null for the operator's own.
 */
export function boundedSeries(ownerOf: (pipeline: string) => string | null, most: MostNames = MOST): BoundedSeries {
  const byMetric = new Map(STORED_SERIES.flatMap((series) => entriesOf(series, most)));
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
      room.know(key, ownerIn(names, labels));
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
function entriesOf({ name, labels, type }: Series, most: MostNames): [string, Names][] {
  const named = labels.filter((label) => !FEW.has(label));
  const others = [...named.keys()].filter((at) => named[at] !== 'pipeline' && named[at] !== 'executor');
  const names = {
    count: named.length,
    pipelineAt: labels.indexOf('pipeline'),
    others: new Set(others),
    full: createRoom(most),
    rest: createRoom({ all: most.all / 10, ofOwner: most.ofOwner / 10 }),
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
  know(key: string, owner: string | null): void;
}

function createRoom(most: MostNames): Room {
  const seen = new Set<string>();
  const made = new Map<string, number>();
  const know = (key: string, owner: string | null) => {
    if (seen.has(key)) return;
    seen.add(key);
    if (owner !== null) made.set(owner, (made.get(owner) ?? 0) + 1);
  };
  return {
    admits: (key, ownerOf) => {
      if (seen.has(key)) return true;
      if (seen.size >= most.all) return false;
      const owner = ownerOf();
      if (owner !== null && (made.get(owner) ?? 0) >= most.ofOwner) return false;
      know(key, owner);
      return true;
    },
    know,
  };
}
