import { stringify } from 'csv-stringify/sync';

/** Lines of cells as CSV (RFC 4180) in which no cell is taken for a formula. */
export const csvOf = (lines: readonly (readonly unknown[])[]): string =>
  stringify([...lines], {
    record_delimiter: 'windows',
    escape_formulas: true,
    quoted_match: /[\r\n]/,
    cast: { boolean: String },
  });
