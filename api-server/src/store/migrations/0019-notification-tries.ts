import type { TableWords } from './table-words.ts';

/** What each try to deliver a message sent and got; of messages that were tried before, nothing is known. */
export const notificationTries = ({ text }: TableWords): readonly string[] => [
  `ALTER TABLE notifications ADD COLUMN tries ${text}`,
];
