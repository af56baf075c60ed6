import { sql } from 'kysely';

/** A long summary is cut where it is read, so that no report grows with what senders wrote. */
export const RUN_SUMMARY = sql<string | null>`substr(runs.summary, 1, 300)`;
