import type { Log } from '../observability/log.ts';

/**
 * SIGTERM and SIGINT call `close` and end the process with exit code 0, or 1 where `close` failed. Call this before the
 * `listening` line is logged: a supervisor may send a signal right after it.
 */
export function stopOnSignals({ close }: { close: () => Promise<void> }, log: Log): void {
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
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
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
}
