import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type BodyOf, type KeyedRow, type TextPage, textPage, type TextShape } from './texts/text-page.ts';

/** The other side of `reader-threads.ts`: runs one query after the other on a connection of its own that cannot write. */
export interface ThreadQuery {
  sql: string;
  parameters: readonly SQLInputValue[];
  /** Asks for the rows as a page of text. */
  as?: TextShape;
}

export type ThreadAnswer = { rows: unknown[] } | { page: TextPage } | { error: string };

const database = new DatabaseSync(workerData as string, { readOnly: true, timeout: 5000 });
database.exec('PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');

const BODY_OF = 'select body from run_bodies where seq = ?';

/** V8 does not know what a statement holds beside its heap, so those of a long export would fill the memory before it frees them. */
const MAX_PREPARED = 64;
const statements = new Map<string, StatementSync>();

function prepared(sql: string): StatementSync {
  const statement = statements.get(sql) ?? database.prepare(sql);
  statements.delete(sql);
  statements.set(sql, statement);
  const [oldest] = statements.keys();
  if (statements.size > MAX_PREPARED && oldest !== undefined) statements.delete(oldest);
  return statement;
}

/** While the rows of a page are read, this sees the same state of the database. */
const bodyOf: BodyOf = (key) => prepared(BODY_OF).get(key)?.['body'] as Uint8Array | undefined;

const answerTo = ({ sql, parameters, as }: ThreadQuery): ThreadAnswer => {
  try {
    const statement = prepared(sql);
    if (as) return { page: textPage(statement.iterate(...parameters) as Iterable<KeyedRow>, as, bodyOf) };
    return { rows: statement.all(...parameters) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.on('message', (query: ThreadQuery) => {
  const answer = answerTo(query);
  // Handed over and not copied.
  parentPort?.postMessage(answer, 'page' in answer ? [answer.page.text.buffer] : []);
});
