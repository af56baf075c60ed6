import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import type { Fired } from './fire.ts';
import { latestFire, nextFire } from './fires.ts';

export interface SchedulerDeps {
  definitions(): Snapshot;
  fire(pipeline: LoadedPipeline, at: number): Promise<Fired>;
  /** When the service was last known to look at its schedules, in milliseconds; null at the first start. */
  lastLook(): Promise<number | null>;
  noteLook(at: number): Promise<void>;
  /** How late a missed fire may still start (`schedule.catch_up_seconds`). */
  catchUpSeconds: number;
  now(): number;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
}

export interface ListedSchedule {
  pipeline: string;
  cron: string;
  timezone: string;
  next_run: string | null;
  suspended: boolean;
}

export interface Scheduler {
  /** Starts what was missed and may still start, then looks every second, or every five while there are none. */
  start(): Promise<void>;
  /** One look; the timer's own, for tests with a clock of their own. */
  look(): Promise<void>;
  list(): ListedSchedule[];
  stop(): Promise<void>;
}

const LOOK_MS = 1_000;
/** While no definition has a schedule: the first fire of one that comes with a reload may be this late. */
const NONE_LOOK_MS = 5_000;
/** A look that comes later than this was not a look but a sleep: what fell into it was missed. */
const LATE_MS = 60_000;
const NOTE_MS = 15_000;

/**
 * Fires what became due since the last look, from the definitions of the moment: a reload needs no word to it.
 * Every fire has its own row in the store, so that it starts once, whichever process looks (Orchestration 4.6).
 */
export function createScheduler(deps: SchedulerDeps): Scheduler {
  let looked = deps.now();
  let noted = 0;
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();
  const scheduled = () => deps.definitions().pipelines.filter(({ config }) => config.schedule);

  const fireDue = async (since: number, until: number) => {
    for (const pipeline of scheduled()) {
      const at = latestFire(pipeline, since, until);
      if (at !== null) await fireOne(deps, pipeline, at);
    }
  };
  const look = async () => {
    const now = deps.now();
    const since = now - looked > LATE_MS ? Math.max(looked, now - deps.catchUpSeconds * 1000) : looked;
    await fireDue(since, now);
    looked = now;
    if (now - noted < NOTE_MS || scheduled().length === 0) return;
    noted = now;
    await deps.noteLook(now);
  };
  const later = () => {
    timer = setTimeout(
      () => {
        looking = looking.then(guarded);
        later();
      },
      scheduled().length > 0 ? LOOK_MS : NONE_LOOK_MS,
    );
    timer.unref();
  };
  const guarded = () =>
    look().catch((error: unknown) =>
      deps.log.warn({ err: error }, 'schedules could not be looked at; next try in a second'),
    );

  return {
    look,
    start: async () => {
      const last = await deps.lastLook();
      if (last !== null) looked = Math.max(last, deps.now() - deps.catchUpSeconds * 1000);
      later();
      looking = guarded();
      await looking;
    },
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
    stop: async () => {
      if (timer) clearTimeout(timer);
      await looking;
    },
  };
}

async function fireOne({ fire, log }: SchedulerDeps, pipeline: LoadedPipeline, at: number): Promise<void> {
  const fired = await fire(pipeline, at);
  const about = { pipeline: pipeline.name, scheduled_for: new Date(at).toISOString() };
  if (fired.started) log.info({ ...about, run_id: fired.runId }, 'schedule fired');
  else if (fired.reason === 'limit')
    log.warn(about, 'schedule fired into a full limit of its pipeline or namespace; no run');
}
