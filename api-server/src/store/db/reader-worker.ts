import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** The other side of `reader-threads.ts`: runs one query after the other on a connection of its own that cannot write. */
export interface ThreadQuery {
  sql: string;
  parameters: readonly SQLInputValue[];
}

export type ThreadAnswer = { rows: unknown[] } | { error: string };

const database = new DatabaseSync(workerData as string, { readOnly: true, timeout: 5000 });
database.exec('PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');

const answerTo = ({ sql, parameters }: ThreadQuery): ThreadAnswer => {
  try {
    return { rows: database.prepare(sql).all(...parameters) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.on('message', (query: ThreadQuery) => parentPort?.postMessage(answerTo(query), []));
