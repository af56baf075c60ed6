import type { TableWords } from './table-words.ts';

/** How many warnings the steps of a run left; none is known of runs that ended before. */
export const warnings = ({ integer }: TableWords): readonly string[] => [
  `ALTER TABLE runs ADD COLUMN warning_count ${integer} NOT NULL DEFAULT 0`,
  `CREATE INDEX runs_with_warnings ON runs (seq) WHERE warning_count > 0`,
];
