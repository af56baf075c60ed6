import type { TableWords } from './table-words.ts';

/** The namespace whose limits a run counts towards; null for a run that counts towards none, and for older runs (`adoptRuns`). */
export const namespaces = ({ text }: TableWords): readonly string[] => [
  `ALTER TABLE runs ADD COLUMN namespace ${text}`,
];
