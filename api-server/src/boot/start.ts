import type { Logs } from '../observability/logger.ts';
import { keepEarlierPrompts } from '../store/tables/prompt-templates.ts';
import { adoptRuns } from '../store/tables/replicas/tenant-load.ts';
import { onePersonTwice } from './parts/one-person-twice.ts';
import { reportShortfalls } from './parts/report-shortfalls.ts';
import type { Runtime } from './runtime.ts';
import type { Stages } from './stages.ts';

/** The steps before the server listens, in order; longer ones continue in the background. */
export async function start({ options, foundation, people, runtime, operating }: Stages): Promise<void> {
  const { log } = options.logs;
  const { database, pricing, versions, state, now } = foundation;
  for (const [namespace, pipelines] of foundation.tenants.pipelinesByNamespace())
    await database.write((tx) => adoptRuns(tx, { namespace, pipelines, now: now() }));
  await resume(runtime, log);
  people.notifications.sender.start();
  people.chats.hear(state.leads);
  void pricing.start();
  foundation.approvalRight.watch();
  for (const warning of onePersonTwice(options.config)) log.warn(warning);
  await runtime.scheduler.start();
  await operating.services.regressions.watch.check();
  await operating.clock.start();
  operating.verdicts.start();
  versions.texts.start();
  await runtime.usage.start();
  runtime.search.start();
  // Rows that are completed meanwhile would look like a shortfall.
  if (runtime.usage.done()) void reportShortfalls(database, log);
  void keepEarlierPrompts(database, now()).catch((error: unknown) =>
    log.warn({ err: error }, 'prompts of earlier definitions could not be stored; the next start tries again'),
  );
}

/** A replica claims runs. With the embedded database the only process resumes all interrupted runs. */
async function resume({ replica, engine }: Runtime, log: Logs['log']): Promise<void> {
  if (replica) return replica.start();
  const runs = await engine.resume();
  if (runs > 0) log.info({ runs }, 'resumed the interrupted runs');
}
