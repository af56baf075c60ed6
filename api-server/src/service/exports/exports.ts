import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import type { Database } from '../../store/db/database.ts';
import { EXPORT_KINDS, type ExportKind, exportPages, type ExportReader } from '../../store/exports/export-page.ts';
import { DefinitionName, Instant } from '../fields.ts';
import { EXPORT_FORMATS } from './formats.ts';

export { EXPORT_KINDS, type ExportKind };

/** `since` and `until` are of the time when a run was triggered, a step started, a mark was made, a delivery arrived. */
export const ExportQuery = z.strictObject({
  format: z.enum(EXPORT_FORMATS).default('jsonl'),
  since: Instant.optional(),
  until: Instant.optional(),
  pipeline: DefinitionName.optional(),
});
export type ExportQuery = z.output<typeof ExportQuery>;

/** Everything of one kind as text (UTF-8), the oldest first. */
export interface Exports {
  /**
   * A page of lines at a time, read when the one before was taken, so that neither the length of the history nor a slow
   * reader fills the memory. Ends early where the caller stops asking or `signal` is aborted.
   */
  rows(kind: ExportKind, query: ExportQuery, asked: Asked): AsyncGenerator<Uint8Array>;
}

export interface Asked {
  /** The name of the token; null where none is needed. */
  by: string | null;
  signal: AbortSignal;
}

/** Exports that are read at the same time, each of which holds a page. */
export const MAX_OPEN_EXPORTS = 50;
export const MAX_EXPORTS_OF_TOKEN = 10;

export function createExports(database: Pick<Database, 'reader' | 'readText'>): Exports {
  const open: (string | null)[] = [];
  async function* pages(kind: ExportKind, { format, ...filter }: ExportQuery, signal: AbortSignal) {
    const reader: ExportReader = {
      db: database.reader(signal),
      readText: (query, as) => database.readText(query, as, signal),
    };
    const pageAt = exportPages(reader, kind, filter);
    let [after, header]: [number | null, boolean] = [0, true];
    while (after !== null) {
      const { text, next } = await pageAt({ after, format, header });
      // A page may hold nothing that the filter lets through.
      if (text.byteLength > 0) yield text;
      [after, header] = [next, false];
    }
  }
  return {
    rows: async function* (kind, query, { by, signal }) {
      const isMany = by !== null && open.filter((name) => name === by).length >= MAX_EXPORTS_OF_TOKEN;
      if (isMany || open.length >= MAX_OPEN_EXPORTS)
        throw new AppError('rate_limited', 'too many exports are open; try again later');
      open.push(by);
      try {
        yield* pages(kind, query, signal);
      } finally {
        open.splice(open.indexOf(by), 1);
      }
    },
  };
}
