export interface ClockDeps {
  /** Starts what became due in `(since, until]`, in milliseconds. */
  fireDue(since: number, until: number): Promise<void>;
  /** Told what nobody looked at: what became due in `(since, until]` is not started any more. */
  missed?(since: number, until: number): Promise<void>;
  /** Whether anything is scheduled now. */
  busy(): boolean;
  /** When the service was last known to look, in milliseconds; null at the first start. */
  lastLook(): Promise<number | null>;
  noteLook(at: number): Promise<void>;
  /** How late a missed fire may still start (`schedule.catch_up_seconds`). */
  catchUpSeconds: number;
  now(): number;
  log: { warn(fields: object, msg: string): void };
}

export interface Clock {
  /** Starts what was missed and may still start, then looks every second, or every five while nothing is scheduled. */
  start(): Promise<void>;
  /** One look; the timer's own, for tests with a clock of their own. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

const LOOK_MS = 1_000;
/** While nothing is scheduled: the first fire of a schedule that comes with a reload may be this late. */
const NONE_LOOK_MS = 5_000;
/** A look that comes later than this was not a look but a sleep: what fell into it was missed. */
const LATE_MS = 60_000;
const NOTE_MS = 15_000;

/** Looks at schedules by the clock, and remembers over a restart when it last did. */
export function createClock(deps: ClockDeps): Clock {
  let looked = deps.now();
  let noted = 0;
  /** When an earlier process last looked. */
  let earlier: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();

  const look = async () => {
    const now = deps.now();
    if (earlier !== null && earlier < looked) await deps.missed?.(earlier, looked);
    earlier = null;
    const since = now - looked > LATE_MS ? Math.max(looked, now - deps.catchUpSeconds * 1000) : looked;
    if (since > looked) await deps.missed?.(looked, since);
    await deps.fireDue(since, now);
    looked = now;
    // A clock that was set back is noted too: what a restart misses counts from there.
    if (Math.abs(now - noted) < NOTE_MS || !deps.busy()) return;
    noted = now;
    await deps.noteLook(now);
  };
  const guarded = () =>
    look().catch((error: unknown) =>
      deps.log.warn({ err: error }, 'schedules could not be looked at; next try in a second'),
    );
  const later = () => {
    timer = setTimeout(
      () => {
        looking = looking.then(guarded);
        later();
      },
      deps.busy() ? LOOK_MS : NONE_LOOK_MS,
    );
    timer.unref();
  };

  return {
    look,
    start: async () => {
      const last = await deps.lastLook();
      if (last !== null) looked = Math.max(last, deps.now() - deps.catchUpSeconds * 1000);
      earlier = last;
      later();
      looking = guarded();
      await looking;
    },
    stop: async () => {
      if (timer) clearTimeout(timer);
      await looking;
    },
  };
}
