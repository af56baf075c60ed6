import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import { type Clock, type ClockDeps, createClock } from './clock.ts';
import type { Fired } from './fire.ts';
import { handleEach } from './handle-each.ts';
import { firesBetween, latestFire, nextFire } from './fires.ts';

export interface SchedulerDeps extends Omit<ClockDeps, 'fireDue' | 'missed' | 'busy' | 'log'> {
  definitions(): Snapshot;
  fire(pipeline: LoadedPipeline, at: number): Promise<Fired>;
  /** Uses up fires that nothing was started for; answers how many of them no process had started. */
  takeMissed(pipeline: string, fires: readonly number[]): Promise<number>;
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
      const errors = await forEach(deps, scheduled(), async (pipeline) => {
        const at = latestFire(pipeline, since, until);
        if (at === null) return;
        // Of several that are due only the latest starts.
        if (until - since >= MINUTE_MS) await miss(deps, pipeline, { since, until: at - 1 });
        await fireOne(deps, pipeline, at);
      });
      // The next look takes the same time again; what has fired does not fire twice.
      if (errors.length > 0) throw errors[0];
    },
    missed: async (since, until) => {
      const pipelines = scheduled();
      const errors = await forEach(deps, pipelines, (pipeline) => miss(deps, pipeline, { since, until }));
      // Where none can be recorded, the store is away; one alone must not hold up the others.
      if (errors.length > 0 && errors.length === pipelines.length) throw errors[0];
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

/** One schedule that cannot be handled leaves the others alone; answers what went wrong. */
async function forEach(
  { log }: Pick<SchedulerDeps, 'log'>,
  pipelines: readonly LoadedPipeline[],
  job: (pipeline: LoadedPipeline) => Promise<void>,
): Promise<unknown[]> {
  const failed = await handleEach(pipelines, job);
  for (const { one, error } of failed)
    log.warn({ err: error, pipeline: one.name }, 'the schedule of a pipeline could not be handled');
  return failed.map(({ error }) => error);
}

/** A pattern has no seconds. */
const MINUTE_MS = 60_000;
/** Missed fires of one schedule that are recorded after one pause. */
const MAX_MISSED = 100;

async function miss(
  { takeMissed, log }: SchedulerDeps,
  pipeline: LoadedPipeline,
  { since, until }: { since: number; until: number },
): Promise<void> {
  const fires = pipeline.config.suspend ? [] : firesBetween(pipeline, since, until, MAX_MISSED);
  const [latest] = fires;
  if (latest === undefined) return;
  const missed = await takeMissed(pipeline.name, fires);
  if (missed === 0) return;
  const about = { pipeline: pipeline.name, scheduled_for: new Date(latest).toISOString(), missed };
  log.warn(about, 'schedule missed: the service was not running, and it is later than schedule.catch_up_seconds');
}

async function fireOne({ fire, log }: SchedulerDeps, pipeline: LoadedPipeline, at: number): Promise<void> {
  const fired = await fire(pipeline, at);
  const about = { pipeline: pipeline.name, scheduled_for: new Date(at).toISOString() };
  if (fired.started) log.info({ ...about, run_id: fired.runId }, 'schedule fired');
  else if (fired.reason === 'limit')
    log.warn(about, 'schedule fired into a full limit of its pipeline or namespace; no run');
}
