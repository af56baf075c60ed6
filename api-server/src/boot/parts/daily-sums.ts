import { Cron } from 'croner';
import type { Logs } from '../../observability/logger.ts';
import { closeDays } from '../../store/aggregates/daily/close-days.ts';
import { countPrompts } from '../../store/aggregates/daily/prompt-days.ts';
import { packEvidence } from '../../store/aggregates/evidence/pack-evidence.ts';
import { noteUses } from '../../store/aggregates/uses/label-uses.ts';
import { packDays } from '../../store/aggregates/uses/pack-days.ts';
import { judgeAgain } from '../../store/tables/labels/judge-again.ts';
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
    const progress = (message: string) => {
      let days = 0;
      return (day: number) => {
        days += 1;
        if (days % SAID_EVERY === 0) log.info({ days, until: new Date(day).toISOString() }, message);
      };
    };
    const deps = { database, signal: closing.signal };
    try {
      await judgeAgain({ ...deps, now: Date.now() });
      await closeDays({ ...deps, now: Date.now(), progress: progress('days are summed') });
      await countPrompts(deps);
      await packEvidence(deps);
      await packDays({ ...deps, progress: progress('runs of days are packed') });
      await noteUses(deps);
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
