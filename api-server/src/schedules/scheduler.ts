import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import { type Clock, type ClockDeps, createClock } from './clock.ts';
import type { Fired } from './fire.ts';
import { latestFire, nextFire } from './fires.ts';

export interface SchedulerDeps extends Omit<ClockDeps, 'fireDue' | 'busy' | 'log'> {
  definitions(): Snapshot;
  fire(pipeline: LoadedPipeline, at: number): Promise<Fired>;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
}

export interface ListedSchedule {
  pipeline: string;
  cron: string;
  timezone: string;
  next_run: string | null;
  suspended: boolean;
}

export interface Scheduler extends Clock {
  list(): ListedSchedule[];
}

/**
 * Fires what became due since the last look, from the definitions of the moment: a reload needs no word to it.
 * Every fire has its own row in the store, so that it starts once, whichever process looks (Orchestration 4.6).
 */
export function createScheduler(deps: SchedulerDeps): Scheduler {
  const scheduled = () => deps.definitions().pipelines.filter(({ config }) => config.schedule);
  const clock = createClock({
    ...deps,
    busy: () => scheduled().length > 0,
    fireDue: async (since, until) => {
      for (const pipeline of scheduled()) {
        const at = latestFire(pipeline, since, until);
        if (at !== null) await fireOne(deps, pipeline, at);
      }
    },
  });
  return {
    ...clock,
    list: () =>
      scheduled().map((pipeline) => {
        const next = nextFire(pipeline, deps.now());
        return {
          pipeline: pipeline.name,
          cron: pipeline.config.schedule?.cron ?? '',
          timezone: pipeline.config.schedule?.timezone ?? '',
          next_run: next === null || pipeline.config.suspend ? null : new Date(next).toISOString(),
          suspended: pipeline.config.suspend,
        };
      }),
  };
}

async function fireOne({ fire, log }: SchedulerDeps, pipeline: LoadedPipeline, at: number): Promise<void> {
  const fired = await fire(pipeline, at);
  const about = { pipeline: pipeline.name, scheduled_for: new Date(at).toISOString() };
  if (fired.started) log.info({ ...about, run_id: fired.runId }, 'schedule fired');
  else if (fired.reason === 'limit')
    log.warn(about, 'schedule fired into a full limit of its pipeline or namespace; no run');
}
