import { Worker } from 'node:worker_threads';
import type { CheckpointedFile } from './checkpoint-worker.ts';

/** Commits between two checkpoints: under load about 1,000 pages, which the writing connection would move by itself. */
export const COMMITS = 32;

export interface CheckpointThread {
  /** Hears of every commit. */
  committed(): void;
  /** Waits for a checkpoint that has begun. */
  close(): Promise<void>;
}

/**
 * A thread that moves what is committed from the write-ahead log into the file, started with the first checkpoint. A commit
 * never waits for it: it takes a lock that writers and readers do not need.
 */
export function createCheckpointThread(of: CheckpointedFile): CheckpointThread {
  let worker: Worker | null = null;
  let commits = 0;
  let isBusy = false;
  let isClosed = false;

  const gone = () => {
    worker = null;
    isBusy = false;
  };
  const start = () => {
    const started = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: of });
    started.unref();
    started.on('message', () => (isBusy = false));
    // The writing connection makes a checkpoint of its own where the log grows long, and the next commits start a thread again.
    started.on('error', gone);
    started.on('exit', gone);
    return started;
  };
  const ask = () => {
    if (isClosed) return;
    worker ??= start();
    worker.postMessage('checkpoint', []);
  };
  return {
    committed: () => {
      commits += 1;
      if (isBusy || commits < COMMITS) return;
      commits = 0;
      isBusy = true;
      // After the answers to what was committed: nothing that goes wrong here may look like a failed commit.
      setImmediate(ask);
    },
    close: async () => {
      isClosed = true;
      const left = worker;
      if (!left) return;
      left.ref();
      const ended = new Promise((resolve) => left.once('exit', resolve));
      left.postMessage('close', []);
      await ended;
    },
  };
}
