import { Cron } from 'croner';
import type { Logs } from '../../observability/logger.ts';
import { closeDays } from '../../store/aggregates/daily/close-days.ts';
import { countPrompts } from '../../store/aggregates/daily/prompt-days.ts';
import { packEvidence } from '../../store/aggregates/evidence/pack-evidence.ts';
import type { Database } from '../../store/db/database.ts';

/** After the start, which has better things to do. */
const FIRST_AFTER_MS = 20_000;
/** Days between two messages, where a long history is summed for the first time. */
const SAID_EVERY = 30;

export interface DailySums {
  stop(): Promise<void>;
}

/** Sums the days that are over and packs their evidence, every hour; where several processes share a database, in the one that leads. */
export function startDailySums(
  database: Database,
  { leads, log }: { leads: () => boolean; log: Logs['log'] },
): DailySums {
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const close = async () => {
    let days = 0;
    const progress = (day: number) => {
      days += 1;
      if (days % SAID_EVERY === 0) log.info({ days, until: new Date(day).toISOString() }, 'days are summed');
    };
    try {
      await closeDays({ database, now: Date.now(), signal: closing.signal, progress });
      await countPrompts({ database, signal: closing.signal });
      await packEvidence({ database, signal: closing.signal });
    } catch (err) {
      if (!closing.signal.aborted) log.warn({ err }, 'days could not be summed; next try in an hour');
    }
  };
  const round = (): void => {
    if (leads() && !closing.signal.aborted) running = running.then(close);
  };
  const first = setTimeout(round, FIRST_AFTER_MS).unref();
  const job = new Cron('10 * * * *', { protect: true, unref: true }, round);
  return {
    stop: async () => {
      clearTimeout(first);
      job.stop();
      closing.abort();
      await running;
    },
  };
}
