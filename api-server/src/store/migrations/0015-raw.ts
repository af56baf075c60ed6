import type { TableWords } from './table-words.ts';

/** Large deliveries as they came, compressed, once for all runs that they started; `stored_at` is of the newest of these. */
export const raw = ({ integer, text, bytes, table }: TableWords): readonly string[] => [
  `CREATE TABLE raw_bodies (hash ${text} PRIMARY KEY, body ${bytes} NOT NULL, stored_at ${integer} NOT NULL) ${table}`,
  `ALTER TABLE runs ADD COLUMN raw_hash ${text}`,
  `CREATE INDEX runs_by_raw ON runs (raw_hash) WHERE raw_hash IS NOT NULL`,
];
