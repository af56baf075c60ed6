import type { Log } from '../observability/log.ts';

/**
 * From now on SIGTERM and SIGINT let what runs end and then end the process: 0, or 1 where that failed. To be called before
 * the service says that it listens, as whoever waits for that may send a signal at once.
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
