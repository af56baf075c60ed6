import { z } from 'zod';
import { tidy } from '../../analytics/tidy.ts';
import type { Database } from '../../store/db/database.ts';
import { EXPORT_KINDS, exportColumns, type ExportKind, exportPage } from '../../store/exports/export-page.ts';
import { DefinitionName, Instant } from '../fields.ts';
import { iso } from '../views/answer.ts';
import { csvOf, EXPORT_FORMATS, type ExportFormat } from './csv.ts';

export { EXPORT_KINDS, type ExportKind };

/** `since` and `until` are of the time when a run was triggered, a step started, a mark was made, a delivery arrived. */
export const ExportQuery = z.strictObject({
  format: z.enum(EXPORT_FORMATS).default('jsonl'),
  since: Instant.optional(),
  until: Instant.optional(),
  pipeline: DefinitionName.optional(),
});
export type ExportQuery = z.output<typeof ExportQuery>;

/** Everything of one kind as text, the oldest first. */
export interface Exports {
  /**
   * A page of lines at a time, read when the one before was taken, so that neither the length of the history nor a slow
   * reader fills the memory. Ends early where the caller stops asking or `signal` is aborted.
   */
  rows(kind: ExportKind, query: ExportQuery, signal: AbortSignal): AsyncGenerator<string>;
}

type Row = Record<string, unknown>;

export function createExports(database: Pick<Database, 'reader'>): Exports {
  return {
    rows: async function* (kind, { format, ...filter }, signal) {
      const columns = exportColumns(kind);
      const db = database.reader(signal);
      let [after, isFirst]: [number | null, boolean] = [0, true];
      while (after !== null) {
        const page = await exportPage(db, kind, filter, after);
        const text = textOf(page.rows.map(exported), format, { columns, header: isFirst });
        // A page may hold nothing that the filter lets through.
        if (text !== '') yield text;
        [after, isFirst] = [page.next, false];
      }
    },
  };
}

const textOf = (rows: Row[], format: ExportFormat, csv: { columns: string[]; header: boolean }): string =>
  format === 'jsonl'
    ? rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    : csvOf(rows.map(cellsOf), csv.columns, csv.header);

/** Columns that hold JSON, and those that hold a flag. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(['output', 'labels']);
const FLAGS: ReadonlySet<string> = new Set(['deterministic_passed']);

const exported = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, exportedValue(name, value)]));

function exportedValue(name: string, value: unknown): unknown {
  if (value === null) return null;
  if (name.endsWith('_at')) return iso(Number(value));
  if (JSON_COLUMNS.has(name)) return JSON.parse(String(value));
  if (FLAGS.has(name)) return Number(value) === 1;
  return typeof value === 'number' ? tidy(value) : value;
}

/** A value with parts is one cell of JSON. */
const cellsOf = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
    ]),
  );
