import type { Logs } from '../observability/logger.ts';
import { reportShortfalls } from '../store/aggregates/roll-up-check.ts';
import { keepEarlierPrompts } from '../store/tables/prompt-templates.ts';
import type { Runtime } from './runtime.ts';
import type { Stages } from './service.ts';

/** What begins before the address opens, in order; what may take longer goes on beside it. */
export async function start({ options, foundation, people, runtime, operating }: Stages): Promise<void> {
  const { log } = options.logs;
  const { database, pricing, versions, state, now } = foundation;
  await resume(runtime, log);
  people.notifications.sender.start();
  people.chats.hear(state.leads);
  void pricing.start();
  await runtime.scheduler.start();
  operating.verdicts.start();
  versions.texts.start();
  void reportShortfalls(database.db, log);
  void keepEarlierPrompts(database, now()).catch((error: unknown) =>
    log.warn({ err: error }, 'prompts of earlier definitions could not be kept; the next start tries again'),
  );
}

/** A replica claims runs; the embedded database has one process, which goes on with all that were left. */
async function resume({ replica, engine }: Runtime, log: Logs['log']): Promise<void> {
  if (replica) return replica.start();
  const runs = await engine.resume();
  if (runs > 0) log.info({ runs }, 'runs of the last process go on');
}
