import { AppError } from '@signalbox/crds';
import type { ActiveRun } from './active-run.ts';
import { stopReason } from './stopped.ts';

/** Pause between two questions to a database that does not answer. */
const AGAIN_MS = 500;
const never = new AbortController().signal;

interface Waiting {
  delay(milliseconds: number, signal: AbortSignal): Promise<boolean>;
}

/**
 * Reads or stores something for a run, and asks again while the database is unavailable: an outage costs a run time, and not its
 * result. Throws the reason when the service stops meanwhile, and every other error at once.
 */
export async function untilAnswered<T>(
  { delay }: Waiting,
  { controller }: Pick<ActiveRun, 'controller'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError) || error.type !== 'unavailable') throw error;
      const stopped = stopReason(controller.signal);
      if (stopped?.why === 'shutdown') throw stopped;
    }
    await delay(AGAIN_MS, never);
  }
}
