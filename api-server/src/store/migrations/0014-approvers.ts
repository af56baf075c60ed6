import type { TableWords } from './table-words.ts';

/** Approvals of two persons: how many are needed, who may not, and who approved so far (JSON). Who started a run. */
export const approvers = ({ integer, text }: TableWords): string[] => [
  `ALTER TABLE approvals ADD COLUMN required ${integer} NOT NULL DEFAULT 1`,
  `ALTER TABLE approvals ADD COLUMN not_the_starter ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE approvals ADD COLUMN votes ${text}`,
  `ALTER TABLE runs ADD COLUMN started_by ${text}`,
];
