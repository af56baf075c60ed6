import { createStream, type RotatingFileStream } from 'rotating-file-stream';

/** Size at which a file is rotated, and how many old files are kept (Orchestration 2.13, 8). */
export const MAX_LOG_BYTES = 10 * 1024 * 1024;
export const KEPT_LOG_FILES = 5;

const RETRY_MS = 1_000;
/** Buffer for a slow disk; further lines are dropped from the file. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

export interface LogFile {
  write(line: string): void;
  close(): Promise<void>;
}

/**
 * A rotating log file. A full or broken disk does not stop the service: lines that cannot be written are dropped (stdout
 * has them), and a second later the file is tried again.
 */
export function openLogFile(name: string, path: string, now: () => number = Date.now): LogFile {
  let stream: RotatingFileStream | null = null;
  let retryAt = 0;
  const open = (): RotatingFileStream | null => {
    if (stream !== null || now() < retryAt) return stream;
    const opened = createStream(name, { path, size: `${MAX_LOG_BYTES}B`, rotate: KEPT_LOG_FILES, mode: 0o600 });
    opened.on('error', () => {
      if (stream === opened) stream = null;
      retryAt = now() + RETRY_MS;
    });
    // An old file may be missing.
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
