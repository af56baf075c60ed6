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
  return {
    sync: () =>
      new Promise((resolve) => {
        sync(log, (cause) => {
          if (cause) throw new Error(`${path} could not be synced to the disk`, { cause });
          resolve();
        });
      }),
    close: () => closeSync(log),
  };
}
