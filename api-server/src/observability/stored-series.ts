import { setImmediate } from 'node:timers/promises';
import { renderHead, renderLabels, renderSample, type Sample } from './exposition.ts';
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
  labels: Sample['labels'];
  /** By `le`; of a counter the one value, under an empty name. */
  values: Map<string, number>;
  sum: number;
  text: string | null;
}

interface Group {
  series: Series;
  cells: Map<string, Cell>;
  leftOut: Set<string>;
  bytes: Buffer | null;
}

/** Cells that are rendered in one turn of the event loop. */
const IN_ONE_TURN = 500;
const PREFIX = 'service_';
/** Characters of all text together, about; ten times as much memory holds and sends it. */
const MOST_TEXT = 32 * 2 ** 20;

export function createStoredSeries(mostText = MOST_TEXT): StoredSeries {
  const room = { left: mostText };
  const groups = new Map(
    STORED_SERIES.map((series): [string, Group] => [
      series.name,
      { series, cells: new Map(), leftOut: new Set(), bytes: null },
    ]),
  );
  const known = new Map<string, Map<string, number>>();
  const put = ({ metric, labels, value }: StoredRow) => {
    const place = placeOf(groups, metric);
    if (place === null) return;
    const { group, part } = place;
    const values = JSON.parse(labels) as string[];
    const le = part === 'bucket' ? (values.pop() ?? '+Inf') : '';
    const cell = cellOf(group, values, room);
    if (cell === null) return;
    if (part === 'sum') cell.sum = value;
    else cell.values.set(le, value);
    cell.text = null;
    group.bytes = null;
  };
  return {
    take: (rows) => {
      for (const row of rows) {
        const values = known.get(row.metric) ?? new Map<string, number>();
        known.set(row.metric, values);
        if (values.get(row.labels) === row.value) continue;
        values.set(row.labels, row.value);
        put(row);
      }
    },
    bytes: async () => {
      const turns = { left: IN_ONE_TURN };
      const pieces: Buffer[] = [];
      for (const group of groups.values()) pieces.push((group.bytes ??= Buffer.from(await renderGroup(group, turns))));
      return pieces;
    },
    leftOut: () => [...groups.values()].reduce((sum, { leftOut }) => sum + leftOut.size, 0),
    others: (metric) => known.get(metric) ?? new Map(),
  };
}

/** Null for a metric that is no series. */
function placeOf(groups: ReadonlyMap<string, Group>, metric: string) {
  const group = groups.get(metric);
  if (group) return { group, part: group.series.type === 'histogram' ? ('bucket' as const) : ('value' as const) };
  const summed = metric.endsWith('_sum') ? groups.get(metric.slice(0, -'_sum'.length)) : undefined;
  return summed?.series.type === 'histogram' ? { group: summed, part: 'sum' as const } : null;
}

/** Null where there is no room for one more. */
function cellOf({ series, cells, leftOut }: Group, values: readonly string[], room: { left: number }): Cell | null {
  const key = JSON.stringify(values);
  const known = cells.get(key);
  if (known) return known;
  const size = sizeOf(series, key);
  if (size > room.left) {
    leftOut.add(key);
    return null;
  }
  room.left -= size;
  const labels = series.labels.map((name, at) => [name, values[at] ?? ''] as const);
  const cell = { labels, values: new Map<string, number>(), sum: 0, text: null };
  cells.set(key, cell);
  return cell;
}

/** About the characters of a cell: its names and labels are in each of its lines. */
function sizeOf({ name, labels, buckets }: Series, key: string): number {
  const lines = buckets ? buckets.length + 3 : 1;
  return lines * (name.length + labels.join().length + key.length + 30);
}

async function renderGroup({ series, cells }: Group, turns: { left: number }): Promise<string> {
  const name = PREFIX + series.name;
  const texts = [renderHead({ ...series, name })];
  for (const cell of cells.values()) {
    if (cell.text === null) {
      cell.text = renderCell(series, cell);
      turns.left -= 1;
    }
    // A sum without buckets is no series yet.
    if (cell.values.size > 0) texts.push(cell.text);
    if (turns.left > 0) continue;
    await setImmediate();
    turns.left = IN_ONE_TURN;
  }
  return texts.join('');
}

function renderCell({ name, type, buckets = [] }: Series, { labels, values, sum }: Cell): string {
  const sample = (suffix: string, value: number) => renderSample(PREFIX + name, { suffix, labels, value });
  if (type === 'counter') return sample('', values.get('') ?? 0);
  const inner = renderLabels(labels).slice(0, -1);
  let total = 0;
  const counted = [...buckets.map(String), '+Inf'].map((le) => {
    total += values.get(le) ?? 0;
    return `${PREFIX}${name}_bucket${inner},le="${le}"} ${total}\n`;
  });
  return counted.join('') + sample('_sum', sum) + sample('_count', total);
}
