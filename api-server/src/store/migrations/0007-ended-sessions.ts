import type { TableWords } from './table-words.ts';

/** Page sessions that ended before their time, until it comes. */
export const endedSessions = ({ integer, text, keyed }: TableWords): readonly string[] => [
  `CREATE TABLE ended_sessions (id ${text} PRIMARY KEY, expires_at ${integer} NOT NULL) ${keyed}`,
];
