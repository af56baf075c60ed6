import type { TableWords } from './table-words.ts';
import { BACKFILL } from './backfill/usage-backfill.ts';

/** Calls of a step without a price. The sums of older rows leave second opinions out, which the job of `backfill/usage-job.ts` adds. */
export const usage = ({ integer }: TableWords): readonly string[] => [
  `ALTER TABLE step_executions ADD COLUMN unpriced_calls ${integer}`,
  `INSERT INTO marks (name, value) SELECT '${BACKFILL}', max(seq) FROM runs HAVING max(seq) IS NOT NULL`,
];
