import { closeSync, fdatasync, openSync } from 'node:fs';

export interface LogSync {
  /** Resolves when all that was committed before the call is durable. The event loop goes on meanwhile. */
  sync(): Promise<void>;
  close(): void;
}

type Sync = (fd: number, done: (error: Error | null) => void) => void;

/**
 * The fsync of the write-ahead log at `path`, which the open database keeps in its place. Where it fails nobody knows what the
 * disk has, and a second try may succeed without having written anything: the process ends, and the next one reads what is there.
 */
export function openLogSync(path: string, sync: Sync = fdatasync): LogSync {
  const log = openSync(path, 'r');
  let underWay = 0;
  let isClosed = false;
  return {
    sync: () =>
      new Promise((resolve) => {
        underWay += 1;
        sync(log, (cause) => {
          underWay -= 1;
          if (cause) throw new Error(`${path} could not be synced to the disk`, { cause });
          if (isClosed && underWay === 0) closeSync(log);
          resolve();
        });
      }),
    // A sync that is under way needs its descriptor, which another file may get as soon as it is closed.
    close: () => {
      isClosed = true;
      if (underWay === 0) closeSync(log);
    },
  };
}
