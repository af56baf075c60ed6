import type { SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { AppError, ErrorType } from '@signalbox/crds';
import { giveWay } from '@signalbox/crds/process/give-way';
import type { Kysely } from 'kysely';
import type { DatabaseLocation, Question } from './database.ts';
import type { Tables } from './schema.ts';
import { openConnection } from './sqlite-connection.ts';
import { type BodyOf, type KeyedRow, type TextPage, textPage, type TextShape } from './texts/text-page.ts';

/** The other side of `reader-threads.ts`: performs one task after the other on connections of its own that do not write. */
export type ThreadMessage = ThreadTask | 'give up';

/** A query of the embedded database, or a question for a module. */
export type ThreadTask = ThreadQuery | { module: string; input: unknown };

export interface ThreadQuery {
  sql: string;
  parameters: readonly SQLInputValue[];
  /** Asks for the rows as a page of text. */
  as?: TextShape;
}

export interface ThreadFault {
  error: string;
  type: ErrorType | undefined;
}
export type ThreadAnswer = { rows: unknown[] } | { page: TextPage } | { answer: unknown } | ThreadFault;

interface Reads {
  reader(signal: AbortSignal): Kysely<Tables>;
  query(asked: ThreadQuery): ThreadAnswer;
}

/** V8 does not know what a statement holds beside its heap, so those of a long export would fill the memory before it frees them. */
const MAX_PREPARED = 64;
const BODY_OF = 'select body from run_bodies where seq = ?';

function embedded(file: string): Reads {
  const { raw, kysely, prepare } = openConnection(file, { readOnly: true, statements: MAX_PREPARED });
  raw.exec('PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');
  /** While the rows of a page are read, this sees the same state of the database. */
  const bodyOf: BodyOf = (key) => prepare(BODY_OF).get(key)?.['body'] as Uint8Array | undefined;
  return {
    reader: () => kysely,
    query: ({ sql, parameters, as }) => {
      if (as) return { page: textPage(prepare(sql).iterate(...parameters) as Iterable<KeyedRow>, as, bodyOf) };
      return { rows: prepare(sql).all(...parameters) };
    },
  };
}

/** Queries of one question that a server answers at the same time. */
const CONNECTIONS = 2;

async function ofServer(url: string): Promise<Reads> {
  const { openLongReads, openPool } = await import('./postgres-reads.ts');
  const { reader } = openLongReads({ url, connections: CONNECTIONS, cancelBy: openPool(url, 1) });
  const query = () => {
    throw new Error('queries of a server need no thread');
  };
  return { reader, query };
}

// Webhooks go before statistics.
giveWay();
const at = workerData as DatabaseLocation;
const { reader, query } = 'file' in at ? embedded(at.file) : await ofServer(at.url);
let wanted = new AbortController();

async function perform(task: ThreadTask): Promise<ThreadAnswer> {
  if (!('module' in task)) return query(task);
  const { answer } = (await import(task.module)) as Question;
  return { answer: await answer(reader(wanted.signal), task.input) };
}

/** The contract is not loaded for the class of an error: it would be a third of the memory of this thread. */
const faultOf = (error: unknown): ThreadFault => ({
  error: error instanceof Error ? error.message : String(error),
  type: error instanceof Error && error.name === 'AppError' ? (error as AppError).type : undefined,
});

async function reply(task: ThreadTask): Promise<void> {
  wanted = new AbortController();
  const answer = await perform(task).catch(faultOf);
  // Handed over and not copied.
  parentPort?.postMessage(answer, 'page' in answer ? [answer.page.text.buffer] : []);
}

parentPort?.on('message', (message: ThreadMessage) => (message === 'give up' ? wanted.abort() : void reply(message)));
