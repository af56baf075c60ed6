export interface DirtyLoop {
  /** Something changed: runs soon, and again where it changes while it runs. */
  mark(): void;
  /** Waits for what runs; nothing runs after it. */
  stop(): Promise<void>;
}

export interface DirtyLoopOptions {
  run(): Promise<void>;
  /** A run that threw is run again after a pause that doubles; this is told why. */
  failed(error: unknown): void;
  random(): number;
}

/** Changes that come together are met by one run, and none waits longer than the second number. */
const QUIET_MS = 10;
const LONGEST_MS = 250;
const RETRY_MS = 250;
const MAX_RETRY_MS = 30_000;

/** Runs a job after changes, one at a time, level-triggered: it looks at the world as it is, never at events. */
export function createDirtyLoop({ run, failed, random }: DirtyLoopOptions): DirtyLoop {
  let timer: NodeJS.Timeout | null = null;
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
            ? QUIET_MS
            : Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2),
        );
      });
  };
  return {
    mark: () => {
      if (stopped) return;
      if (running) {
        again = true;
        return;
      }
      const now = performance.now();
      // A retry keeps its pause: an object that changes often must not turn a failure into a busy loop.
      if (timer && failures > 0) return;
      if (firstMark === 0) firstMark = now;
      schedule(Math.max(0, Math.min(QUIET_MS, firstMark + LONGEST_MS - now)));
    },
    stop: async () => {
      stopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}
