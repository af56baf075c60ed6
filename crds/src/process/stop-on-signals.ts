interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * SIGTERM and SIGINT call `close` and end the process with exit code 0, or 1 where `close` failed; a second signal ends it at
 * once. Call this before the `listening` line is logged: a supervisor may send a signal right after it.
 */
export function stopOnSignals({ close }: { close(): Promise<void> }, log: Log): void {
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping: no new work; waiting for what runs');
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** For a service that goes on after a failure that no code expected. */
export function logRejections(log: Log): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
}
