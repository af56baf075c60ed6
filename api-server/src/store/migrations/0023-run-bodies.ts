import type { TableWords } from './table-words.ts';

/**
 * What only the page of a run shows, compressed: its context, its delivery and its events, which have columns of their own until the run has
 * ended. The background job that makes runs findable packs them.
 */
export const runBodies = ({ integer, bytes, table }: TableWords): readonly string[] => [
  `CREATE TABLE run_bodies (seq ${integer} PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE, body ${bytes} NOT NULL) ${table}`,
];
