import type { TableWords } from './table-words.ts';

/**
 * `result`: what lists show of a run's conclusion, as JSON, kept when the texts of its steps are packed; null until then. The mark
 * `repack:runs` is there until the runs that were packed without the texts of their steps are packed with them.
 */
export const packedSteps = ({ text }: TableWords): readonly string[] => [
  `ALTER TABLE runs ADD COLUMN result ${text}`,
  `INSERT INTO marks (name, value) SELECT 'repack:runs', 0 FROM marks WHERE name = 'search:runs'`,
];
