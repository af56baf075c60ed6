import type { TableWords } from './table-words.ts';

/**
 * What lists of runs are searched in: the words and facts of ended runs under their `seq`. A background job fills it up to the mark
 * `search:runs`; `unsearched` names the runs below that mark that have not ended. `run_days` bounds a time range: the first
 * and the last `seq` of the runs that were triggered on a day (UTC).
 */
export const search = ({ integer, keyed, wordsOf }: TableWords): readonly string[] => [
  ...wordsOf('run_search', 'runs (seq)'),
  `CREATE TABLE unsearched (seq ${integer} PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE) ${keyed}`,
  `CREATE TABLE run_days (day ${integer} PRIMARY KEY, first_seq ${integer} NOT NULL, last_seq ${integer} NOT NULL) ${keyed}`,
];
