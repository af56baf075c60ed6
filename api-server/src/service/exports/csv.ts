import { stringify } from 'csv-stringify/sync';

/** Rows as CSV (RFC 4180) in which no cell is taken for a formula; the header comes with the first rows of a file. */
export const csvOf = (rows: readonly object[], columns: readonly string[], header = true): string =>
  stringify([...rows], {
    header,
    columns: [...columns],
    record_delimiter: 'windows',
    escape_formulas: true,
    quoted_match: /[\r\n]/,
    cast: { boolean: String },
  });

export const EXPORT_FORMATS = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};
