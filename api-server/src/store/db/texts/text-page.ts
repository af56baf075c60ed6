import { tidy } from '../../../analytics/tidy.ts';
import { isPacked, type PackedBody, TEXTS, unpackTexts } from '../bodies/packed-body.ts';
import { csvOf } from './csv.ts';

export type TextFormat = 'jsonl' | 'csv';

/** How rows become text. */
export interface TextShape {
  format: TextFormat;
  columns: readonly string[];
  /** Whether a CSV begins here. */
  header: boolean;
}

/** `text` is UTF-8; `last` is the key of its last row where it ends before the last row, else null. */
export interface TextPage {
  text: Uint8Array<ArrayBuffer>;
  last: number | null;
}

/** A row with the key by which pages are cut. */
export type KeyedRow = { page_key: unknown } & Record<string, unknown>;

/** Reads the packed body of the run with this key. */
export type BodyOf = (key: number) => Uint8Array | undefined;

/** Puts the texts that were packed back into their rows; the body of a run is read once for all of them. */
function createFill(columns: readonly string[], bodyOf: BodyOf): (row: KeyedRow) => void {
  const texts = TEXTS.filter((column) => columns.includes(column));
  let [last, unpacked]: [key: number | null, PackedBody['texts'] | undefined] = [null, undefined];
  return (row) => {
    for (const column of texts) {
      if (!isPacked(row[column])) continue;
      const key = Number(row.page_key);
      if (key !== last) {
        const body = bodyOf(key);
        [last, unpacked] = [key, body && unpackTexts(body, texts)];
      }
      row[column] = unpacked?.get(String(row['step_name']))?.[column] ?? null;
    }
  };
}

/** What one page may hold: a page is made, sent and forgotten before the next one is read. */
const PAGE_BYTES = 64 * 1024;

/** Takes rows until a page is full; rows of one key stay together. Each row is text before the next one is read. */
export function textPage(
  rows: Iterable<KeyedRow>,
  { format, columns, header }: TextShape,
  bodyOf: BodyOf = () => undefined,
): TextPage {
  const fill = createFill(columns, bodyOf);
  const lineOf = format === 'jsonl' ? jsonLine : csvLine;
  let text = format === 'csv' && header ? csvOf([columns]) : '';
  let last: number | null = null;
  for (const row of rows) {
    const key = Number(row.page_key);
    if (text.length >= PAGE_BYTES && key !== last) return { text: encoder.encode(text), last };
    last = key;
    fill(row);
    text += lineOf(row, columns);
  }
  return { text: encoder.encode(text), last: null };
}

const encoder = new TextEncoder();

type Row = Readonly<Record<string, unknown>>;

const jsonLine = (row: Row, columns: readonly string[]): string =>
  `${JSON.stringify(Object.fromEntries(columns.map((name) => [name, exported(name, row[name])])))}\n`;

/** A value with parts is one cell of JSON. */
const csvLine = (row: Row, columns: readonly string[]): string =>
  csvOf([
    columns.map((name) => {
      const value = exported(name, row[name]);
      return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    }),
  ]);

/** Columns that hold JSON, and those that hold a flag. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['output', 'labels']);
const FLAGS: ReadonlySet<string> = new Set(['deterministic_passed']);

function exported(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (name.endsWith('_at')) return new Date(Number(value)).toISOString();
  if (JSON_COLUMNS.has(name)) return JSON.parse(String(value));
  if (FLAGS.has(name)) return Number(value) === 1;
  return typeof value === 'number' ? tidy(value) : value;
}
