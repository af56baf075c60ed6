import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { renderHead, renderLabels, renderSample } from './exposition.ts';
import { type Series, STORED_SERIES } from './series.ts';

/**
 * A row of the roll-ups; `labels` is a JSON array. A histogram has a row for each bucket, not cumulative, under a last label
 * `le`, and `<name>_sum`.
 */
export interface StoredRow {
  metric: string;
  labels: string;
  value: number;
}

/** The text of the stored series, of which a scrape renders again what has changed since the one before. */
export interface StoredSeries {
  /** Some of the rows of a scrape, in their order. */
  take(rows: readonly StoredRow[]): void;
  /**
   * The text of every series with HELP and TYPE, also without a value (Orchestration 6), a series a piece. Others have turns of the event
   * loop meanwhile.
   */
  bytes(): Promise<Buffer[]>;
  /** Combinations of labels for which the text has no room. */
  leftOut(): number;
  /** The values of a metric that is no series, by the JSON of its labels. */
  others(metric: string): ReadonlyMap<string, number>;
}

/** The lines of one combination of labels. */
interface Cell {
  /** The JSON of its labels without its last bracket. */
  key: string;
  /** By the place of the bucket; of a counter the one value. */
  values: number[];
  sum: number;
  text: string | null;
  piece: Piece;
}

/** Cells whose text is written anew together. */
interface Piece {
  cells: Cell[];
  bytes: Buffer | null;
}

interface Group {
  series: Series;
  head: Buffer;
  /** By their keys. */
  cells: Map<string, Cell>;
  pieces: Piece[];
  /** Hashes of what has no cell. */
  leftOut: Set<string>;
}

/** Cells that are rendered in one turn of the event loop. */
const IN_ONE_TURN = 500;
/** Few enough that a change writes little anew, and enough that the pieces are few. */
const CELLS_OF_PIECE = 50;
const PREFIX = 'service_';
/** Characters of all text together, about: more than those that have names of their own (`bounded-series.ts`). */
const MOST_TEXT = 20 * 2 ** 20;

export function createStoredSeries(mostText = MOST_TEXT): StoredSeries {
  const room = { left: mostText };
  const groups = STORED_SERIES.map(emptyGroup);
  const places = new Map(groups.flatMap(placesOf));
  const others = new Map<string, Map<string, number>>();
  const put = ({ group, bounds, isSum }: Place, { labels, value }: StoredRow) => {
    const end = bounds ? labels.lastIndexOf(',') : labels.length - 1;
    const at = bounds ? bounds.indexOf(labels.slice(end + 2, -2)) : 0;
    const cell = cellOf(group, labels.slice(0, end), room);
    if (cell === null || at < 0) return;
    if ((isSum ? cell.sum : cell.values[at]) === value) return;
    if (isSum) cell.sum = value;
    else cell.values[at] = value;
    cell.text = null;
    cell.piece.bytes = null;
  };
  return {
    take: (rows) => {
      for (const row of rows) {
        const place = places.get(row.metric);
        if (place) put(place, row);
        else others.set(row.metric, (others.get(row.metric) ?? new Map<string, number>()).set(row.labels, row.value));
      }
    },
    bytes: async () => {
      const turns = { left: IN_ONE_TURN };
      const texts: Buffer[] = [];
      for (const { series, head, pieces } of groups) {
        texts.push(head);
        for (const piece of pieces) {
          texts.push((piece.bytes ??= renderPiece(series, piece, turns)));
          if (turns.left > 0) continue;
          await setImmediate();
          turns.left = IN_ONE_TURN;
        }
      }
      return texts;
    },
    leftOut: () => groups.reduce((sum, { leftOut }) => sum + leftOut.size, 0),
    others: (metric) => others.get(metric) ?? new Map(),
  };
}

const emptyGroup = (series: Series): Group => ({
  series,
  head: Buffer.from(renderHead({ ...series, name: PREFIX + series.name })),
  cells: new Map(),
  pieces: [],
  leftOut: new Set(),
});

interface Place {
  group: Group;
  /** Of a bucket: those of its series. */
  bounds: string[] | null;
  isSum: boolean;
}

/** Where rows go, by their metric. */
function placesOf(group: Group): [string, Place][] {
  const { name, type } = group.series;
  if (type === 'counter') return [[name, { group, bounds: null, isSum: false }]];
  return [
    [name, { group, bounds: boundsOf(group.series), isSum: false }],
    [`${name}_sum`, { group, bounds: null, isSum: true }],
  ];
}

const boundsOf = ({ buckets = [] }: Series): string[] => [...buckets.map(String), '+Inf'];

/** Null where there is no room for one more. */
function cellOf({ series, cells, pieces, leftOut }: Group, key: string, room: { left: number }): Cell | null {
  const known = cells.get(key);
  if (known) return known;
  const size = sizeOf(series, key);
  if (size > room.left) {
    leftOut.add(hash('sha1', key, 'base64'));
    return null;
  }
  room.left -= size;
  let piece = pieces.at(-1);
  if (!piece || piece.cells.length === CELLS_OF_PIECE) pieces.push((piece = { cells: [], bytes: null }));
  const cell = { key, values: [], sum: 0, text: null, piece };
  piece.cells.push(cell);
  cells.set(key, cell);
  return cell;
}

/** About the characters of a combination of labels: its names and labels are in each of its lines. */
export function sizeOf({ name, labels, buckets }: Series, key: string): number {
  const lines = buckets ? buckets.length + 3 : 1;
  return lines * (name.length + labels.join().length + key.length + 30);
}

function renderPiece(series: Series, { cells }: Piece, turns: { left: number }): Buffer {
  // A sum without buckets is no series yet.
  const shown = cells.filter(({ values }) => values.length > 0);
  const texts = shown.map((cell) => {
    if (cell.text === null) turns.left -= 1;
    return (cell.text ??= renderCell(series, cell));
  });
  return Buffer.from(texts.join(''));
}

function renderCell(series: Series, { key, values, sum }: Cell): string {
  const { name, type } = series;
  const texts = JSON.parse(`${key}]`) as string[];
  const labels = series.labels.map((label, at) => [label, texts[at] ?? ''] as const);
  const sample = (suffix: string, value: number) => renderSample(PREFIX + name, { suffix, labels, value });
  if (type === 'counter') return sample('', values[0] ?? 0);
  const inner = renderLabels(labels).slice(0, -1);
  let total = 0;
  const counted = boundsOf(series).map((le, at) => {
    total += values[at] ?? 0;
    return `${PREFIX}${name}_bucket${inner},le="${le}"} ${total}\n`;
  });
  return counted.join('') + sample('_sum', sum) + sample('_count', total);
}
