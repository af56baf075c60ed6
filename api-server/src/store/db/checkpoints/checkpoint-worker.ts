import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { identityOf } from './file-identity.ts';

/** The other side of `checkpoint-thread.ts`. `identity` is of the file that the service has open. */
export interface CheckpointedFile {
  file: string;
  identity: string | null;
}

const { file, identity } = workerData as CheckpointedFile;
/** A file that is gone is not made again. */
const database = new DatabaseSync(`${pathToFileURL(file).href}?mode=rw`);
// A file that was put in the place of the open one must not get what the log of that holds.
const isSame = identityOf(file) === identity;

/** What fails now is tried again with the next checkpoint. */
function checkpoint(): void {
  try {
    if (isSame) database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw error;
  }
  parentPort?.postMessage('done', []);
}

parentPort?.on('message', (asked: 'checkpoint' | 'close') => {
  if (asked === 'checkpoint') return checkpoint();
  database.close();
  parentPort?.close();
});
