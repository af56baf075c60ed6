import type { Stages } from './stages.ts';

/** How long runs may continue after SIGTERM; the rest is resumed at the next start. */
const DRAIN_MS = 20_000;

/** Refuses new runs, waits for running ones up to the drain timeout, then closes what the stages opened. */
export async function stop({ options, foundation, people, runtime, operating, app }: Stages): Promise<void> {
  const { compute, database, pricing, backends, approvalRight, tracing, versions, state } = foundation;
  const { engine, replica, scheduler, retention, search, dailySums, usage } = runtime;
  state.accepting = false;
  await replica?.retire();
  await scheduler.stop();
  await operating.clock.stop();
  retention.stop();
  await dailySums.stop();
  pricing.stop();
  await operating.verdicts.stop();
  await engine.drain(DRAIN_MS);
  await operating.deliveryLog.flush();
  await replica?.handOver();
  await search.stop();
  await usage.stop();
  await people.notifications.sender.stop();
  await people.chats.stop();
  await app.close();
  approvalRight.close();
  for (const backend of backends) backend.close();
  await replica?.stop();
  await tracing?.close();
  versions.texts.stop();
  await versions.uses.flush().catch(() => undefined);
  await compute.close();
  await database.close();
  await options.logs.close();
}
