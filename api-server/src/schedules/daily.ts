import { Cron } from 'croner';

export interface DailyDeps {
  /** What is done every day, by name; each answers how much it removed. */
  tasks: ReadonlyMap<string, () => Promise<number>>;
  log: { info(fields: object, msg: string): void; error(fields: object, msg: string): void };
}

/** Removes what is past its retention, every day at 02:00 of the machine's time (Orchestration 2.13). */
export function startDaily(deps: DailyDeps): { stop(): void } {
  const job = new Cron('0 2 * * *', { protect: true, unref: true }, () => runDaily(deps));
  return { stop: () => job.stop() };
}

/** One round; a task that fails does not keep the others from running. */
export async function runDaily({ tasks, log }: DailyDeps): Promise<void> {
  for (const [name, task] of tasks) {
    try {
      const removed = await task();
      log.info({ task: name, removed }, 'retention');
    } catch (error) {
      log.error({ task: name, err: error }, 'retention failed; next try tomorrow');
    }
  }
}
