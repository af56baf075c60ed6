import { Worker } from 'node:worker_threads';
import type { CheckpointedFile, Log } from './checkpoint-worker.ts';

/** Commits between two checkpoints: under load about 1,000 pages, which the writing connection would move by itself. */
export const COMMITS = 32;

/** Pages from which on a log is to begin anew, 64 MB, and those that the writing connection moves for it; more after each try without success. */
const OLD_LOG = 16_000;
const FEW = 300;
/** Pages of a log that does not, because somebody always reads in it, 128 MB. */
export const LONG_LOG = 32_000;

export interface Around {
  /**
   * Moves the last pages on the writing connection, so that none comes meanwhile: the next commit begins the log anew. False where there
   * are more than `most` of them.
   */
  finish(most: number): boolean;
  /** Performs a checkpoint when nobody reads, and lets nobody read until it is done. */
  quietly(checkpoint: () => Promise<void>): void;
  /** The thread ended by itself. */
  gone(): void;
}

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
export function createCheckpointThread(of: CheckpointedFile, around: Around): CheckpointThread {
  let worker: Worker | null = null;
  let commits = 0;
  let asked = 0;
  let isClosed = false;
  let most = LONG_LOG;
  let misses = 0;
  let done: (() => void) | null = null;

  const answered = (left: number) => {
    asked = left;
    if (asked > 0) return;
    done?.();
    done = null;
  };
  const gone = () => {
    worker = null;
    answered(0);
    around.gone();
  };
  const look = ({ pages, left }: Log) => {
    if (pages >= OLD_LOG && left <= FEW && !isClosed) misses = around.finish(FEW * (misses + 1)) ? 0 : misses + 1;
    answered(asked - 1);
    if (pages < LONG_LOG) most = LONG_LOG;
    if (pages < most) return;
    // Where another process reads all the time, a quiet checkpoint does not help, and is not tried again soon.
    most = pages + LONG_LOG;
    around.quietly(async () => {
      const quiet = new Promise<void>((resolve) => (done = resolve));
      ask();
      await quiet;
    });
  };
  const start = () => {
    const started = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: of });
    started.unref();
    started.on('message', look);
    // The writing connection makes a checkpoint of its own where the log grows long, and the next commits start a thread again.
    started.once('error', () => {
      started.off('exit', gone);
      gone();
    });
    started.once('exit', gone);
    return started;
  };
  const ask = () => {
    if (isClosed) return answered(0);
    asked += 1;
    worker ??= start();
    worker.postMessage('checkpoint', []);
  };
  return {
    committed: () => {
      commits += 1;
      if (asked > 0 || commits < COMMITS) return;
      commits = 0;
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
