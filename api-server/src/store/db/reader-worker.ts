import type { SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '@signalbox/crds/process/give-way';
import type { Question } from './database.ts';
import { openConnection } from './sqlite-connection.ts';
import { type BodyOf, type KeyedRow, type TextPage, textPage, type TextShape } from './texts/text-page.ts';

/** The other side of `reader-threads.ts`: runs one query, or answers one question, after the other on a connection of its own that cannot write. */
export type ThreadTask = ThreadQuery | { module: string; input: unknown };

export interface ThreadQuery {
  sql: string;
  parameters: readonly SQLInputValue[];
  /** Asks for the rows as a page of text. */
  as?: TextShape;
}

export type ThreadAnswer = { rows: unknown[] } | { page: TextPage } | { answer: unknown } | { error: string };

/** V8 does not know what a statement holds beside its heap, so those of a long export would fill the memory before it frees them. */
const MAX_PREPARED = 64;

// Webhooks go before statistics.
giveWay();
const { raw, kysely, prepare } = openConnection(workerData as string, { readOnly: true, statements: MAX_PREPARED });
raw.exec('PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');

const BODY_OF = 'select body from run_bodies where seq = ?';

/** While the rows of a page are read, this sees the same state of the database. */
const bodyOf: BodyOf = (key) => prepare(BODY_OF).get(key)?.['body'] as Uint8Array | undefined;

async function perform(task: ThreadTask): Promise<ThreadAnswer> {
  if ('module' in task) {
    const { answer } = (await import(task.module)) as Question;
    return { answer: await answer(kysely, task.input) };
  }
  const { sql, parameters, as } = task;
  if (as) return { page: textPage(prepare(sql).iterate(...parameters) as Iterable<KeyedRow>, as, bodyOf) };
  return { rows: prepare(sql).all(...parameters) };
}

async function reply(task: ThreadTask): Promise<void> {
  const answer = await perform(task).catch((error: unknown) => ({
    error: error instanceof Error ? error.message : String(error),
  }));
  // Handed over and not copied.
  parentPort?.postMessage(answer, 'page' in answer ? [answer.page.text.buffer] : []);
}

parentPort?.on('message', (task: ThreadTask) => void reply(task));
