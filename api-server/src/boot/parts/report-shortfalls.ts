import type { Logs } from '../../observability/logger.ts';
import type { answer } from '../../store/aggregates/roll-up-check.ts';
import type { Database } from '../../store/db/database.ts';

const ANSWERS = new URL('../../store/aggregates/roll-up-check.ts', import.meta.url);
const ASKED_MS = 30_000;

/** A roll-up that says less than its rows is a fault of ours; the service goes on, the log says so. */
export async function reportShortfalls(database: Pick<Database, 'ask'>, log: Logs['log']): Promise<void> {
  const asked = database.ask(ANSWERS, null, AbortSignal.timeout(ASKED_MS)) as ReturnType<typeof answer>;
  const shortfalls = await asked.catch((err: unknown) => {
    log.info({ err }, 'the roll-ups could not be compared with their rows');
    return [];
  });
  if (shortfalls === null) log.info('the roll-ups are not compared with their rows: there are too many');
  for (const { metric, labels, rolledUp, counted } of shortfalls ?? [])
    log.error({ metric, labels, rolled_up: rolledUp, counted }, 'a roll-up is behind its rows');
}
