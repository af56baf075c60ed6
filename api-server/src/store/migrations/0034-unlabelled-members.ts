import type { TableWords } from './table-words.ts';

/** How many members pinned as correct got no label; none is known of replays that ended before. */
export const unlabelledMembers = ({ integer }: TableWords): readonly string[] => [
  `ALTER TABLE regressions ADD COLUMN n_unlabelled ${integer}`,
];
