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

interface SumDeps {
  database: Database;
  signal: AbortSignal;
  log: Pick<Logs['log'], 'info' | 'warn'>;
}

/** One after the other; where one fails, those behind it have their turn. */
export async function sumDays({ log, ...deps }: SumDeps): Promise<void> {
  const progress = (message: string) => {
    let days = 0;
    return (day: number) => {
      days += 1;
      if (days % SAID_EVERY === 0) log.info({ days, until: new Date(day).toISOString() }, message);
    };
  };
  const tasks = {
    close: async () => {
      await judgeAgain({ ...deps, now: Date.now() });
      await closeDays({ ...deps, now: Date.now(), progress: progress('days are summed') });
    },
    prompts: () => countPrompts(deps),
    evidence: () => packEvidence(deps),
    runs: () => packDays({ ...deps, progress: progress('runs of days are packed') }),
    labels: () => noteUses(deps),
  };
  for (const [task, run] of Object.entries(tasks))
    try {
      await run();
    } catch (err) {
      if (deps.signal.aborted) return;
      log.warn({ err, task }, 'days could not be summed; next try in an hour');
    }
}

/** Sums the days that are over and packs their evidence, every hour; where several processes share a database, in the one that leads. */
export function startDailySums(
  database: Database,
  { leads, log }: { leads: () => boolean; log: Logs['log'] },
): DailySums {
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    if (leads() && !closing.signal.aborted)
      running = running.then(() => sumDays({ database, signal: closing.signal, log }));
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
