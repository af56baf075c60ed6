import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { identityOf } from './file-identity.ts';

/** The other side of `checkpoint-thread.ts`. `identity` is of the file that the service has open. */
export interface CheckpointedFile {
  file: string;
  identity: string | null;
}

/** What a checkpoint answers: the pages of the log, and those that are not moved yet. */
export interface Log {
  pages: number;
  left: number;
}

const { file, identity } = workerData as CheckpointedFile;
/** A file that is gone is not made again. */
const database = new DatabaseSync(`${pathToFileURL(file).href}?mode=rw`);
// A file that was put in the place of the open one must not get what the log of that holds.
const isSame = identityOf(file) === identity;

/** What fails now is tried again with the next checkpoint. */
function checkpoint(): Log {
  try {
    const done = isSame ? database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() : undefined;
    const pages = Number(done?.['log'] ?? 0);
    return { pages, left: pages - Number(done?.['checkpointed'] ?? 0) };
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    return { pages: 0, left: 0 };
  }
}

parentPort?.on('message', (asked: 'checkpoint' | 'close') => {
  if (asked === 'checkpoint') return parentPort?.postMessage(checkpoint() satisfies Log, []);
  database.close();
  parentPort?.close();
});
