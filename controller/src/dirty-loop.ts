export interface DirtyLoop {
  /** Something changed: runs soon, and again where it changes while it runs. */
  mark(): void;
  /** Runs after this time even without a change; null takes that back. */
  markIn(ms: number | null): void;
  /** Waits for the present run, whose failure no longer counts; no other follows. */
  stop(): Promise<void>;
}

export interface DirtyLoopOptions {
  run(): Promise<void>;
  /** Called with what a run threw; the run is repeated after a pause that doubles. */
  failed(error: unknown): void;
  random(): number;
  /** How long a run waits for further changes after the last one. Default 10 ms. */
  quietMs?: number;
}

/** One run serves changes that come together, and none waits longer than the second number. */
const QUIET_MS = 10;
const LONGEST_MS = 250;
const RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;

/** Runs a job after changes, one at a time, level-triggered: it looks at the state, never at events. */
export function createDirtyLoop({ run, failed, random, quietMs = QUIET_MS }: DirtyLoopOptions): DirtyLoop {
  let timer: NodeJS.Timeout | null = null;
  let later: NodeJS.Timeout | undefined;
  let firstMark = 0;
  let running: Promise<void> | null = null;
  let again = false;
  let failures = 0;
  let stopped = false;

  const schedule = (ms: number): void => {
    if (timer) clearTimeout(timer);
    timer = setTimeout(start, ms);
  };
  const start = (): void => {
    timer = null;
    firstMark = 0;
    running = run()
      .then(
        () => (failures = 0),
        (error: unknown) => {
          if (stopped) return;
          failed(error);
          failures++;
          again = true;
        },
      )
      .then(() => {
        running = null;
        if (!again || stopped) return;
        again = false;
        schedule(
          failures === 0
            ? quietMs
            : Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2),
        );
      });
  };
  const mark = (): void => {
    if (stopped) return;
    if (running) {
      again = true;
      return;
    }
    const now = performance.now();
    // A retry keeps its pause: an object that changes often must not turn a failure into a busy loop.
    if (timer && failures > 0) return;
    if (firstMark === 0) firstMark = now;
    schedule(Math.max(0, Math.min(quietMs, firstMark + LONGEST_MS - now)));
  };
  return {
    mark,
    markIn: (ms) => {
      clearTimeout(later);
      if (ms !== null && !stopped) later = setTimeout(mark, Math.max(0, ms));
    },
    stop: async () => {
      stopped = true;
      clearTimeout(later);
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}
