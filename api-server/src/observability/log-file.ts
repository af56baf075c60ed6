import { createStream, type RotatingFileStream } from 'rotating-file-stream';

/** Bytes after which a file makes way for the next, and how many old ones stay (Orchestration 2.13, 8). */
export const MAX_LOG_BYTES = 10 * 1024 * 1024;
export const KEPT_LOG_FILES = 5;

const RETRY_MS = 1_000;
/** What waits for a slow disk; further lines are left out of the file. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

export interface LogFile {
  write(line: string): void;
  close(): Promise<void>;
}

/**
 * A rotating file that a full or broken disk never takes the service down with: lines that cannot be written are left out
 * (stdout has them), and a second later the file is tried again.
 */
export function openLogFile(name: string, path: string, now: () => number = Date.now): LogFile {
  let stream: RotatingFileStream | null = null;
  let retryAt = 0;
  const open = (): RotatingFileStream | null => {
    if (stream !== null || now() < retryAt) return stream;
    const opened = createStream(name, { path, size: `${MAX_LOG_BYTES}B`, rotate: KEPT_LOG_FILES });
    opened.on('error', () => {
      if (stream === opened) stream = null;
      retryAt = now() + RETRY_MS;
    });
    // An old file that is not there is nobody's business.
    opened.on('warning', () => undefined);
    stream = opened;
    return opened;
  };
  open();
  return {
    write: (line) => {
      const file = open();
      if (file && file.writableLength < MAX_WAITING_BYTES) file.write(line);
    },
    close: async () => {
      const last = stream;
      stream = null;
      retryAt = Infinity;
      if (last === null || last.destroyed) return;
      await new Promise<void>((resolve) =>
        last
          .once('close', resolve)
          .once('error', () => resolve())
          .end(),
      );
    },
  };
}
