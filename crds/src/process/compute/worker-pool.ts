import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type ComputeLimit, computeLimit, passingLimit, tooMuchProcessor } from '../../language/compute-limit.ts';
import { FairQueue, type Owner, type QueueLimits } from './fair-queue.ts';
import type { ResultOf, Task, ThreadMessage } from './task.ts';

export interface PoolLimits extends Partial<QueueLimits> {
  /** Milliseconds of one task. */
  timeoutMs: number;
  /** Heap of one thread. */
  memoryMib?: number;
  threads?: number;
  /** Milliseconds after which a thread without work ends. */
  idleMs?: number;
}

export interface WorkerPool {
  /** Tasks of one run are computed one after the other, and shares take turns. */
  run<T extends Task>(task: T, owner: Owner): Promise<ResultOf<T> | ComputeLimit>;
  /** Whether two tasks of this run ended their thread: no further one is taken. */
  isBarred(run: string): boolean;
  close(): Promise<void>;
}

interface Entry {
  task: Task;
  owner: Owner;
  settle(result: unknown): void;
}

interface Thread {
  worker: Worker;
  ready: boolean;
  entry: Entry | null;
  timer: NodeJS.Timeout | undefined;
}

const START_MS = 30_000;
/** A definition is refused for good, so only the time of the processor decides about it; a busy machine takes longer. */
const DEFINITION_TIMES = 10;
const MAX_ENDED = 2;
/** Runs whose tasks ended a thread that are remembered. */
const MAX_RUNS = 10_000;

/**
 * Threads for what others wrote: a task that takes too long or too much memory ends with its thread, and the next one gets a new
 * thread. The first thread starts with the first task; threads without work end.
 */
export function createWorkerPool({
  timeoutMs,
  memoryMib = 128,
  threads: maxThreads = Math.min(2, availableParallelism()),
  maxWaiting = 256,
  maxPerShare = Math.ceil(maxWaiting / 4),
  groupOf = () => '',
  idleMs = 30_000,
}: PoolLimits): WorkerPool {
  const waiting = new FairQueue<Entry>({ maxWaiting, maxPerShare, groupOf });
  const threads = new Set<Thread>();
  const ended = new Map<string, number>();
  let closed = false;

  const isBarred = (run: string) => (ended.get(run) ?? 0) >= MAX_ENDED;
  const isRefused = ({ owner: { run } }: Entry) => run !== null && isBarred(run);
  const isReady = ({ owner: { run } }: Entry) =>
    run === null || ![...threads].some(({ entry }) => entry?.owner.run === run);

  const countEnd = ({ run }: Owner) => {
    if (run === null) return;
    const count = (ended.get(run) ?? 0) + 1;
    ended.delete(run);
    ended.set(run, count);
    if (ended.size > MAX_RUNS) ended.delete(ended.keys().next().value as string);
  };

  /** Ends a thread with its task; the thread may be in the middle of it. */
  const end = (thread: Thread, why: ComputeLimit | null): void => {
    if (!threads.delete(thread)) return;
    clearTimeout(thread.timer);
    void thread.worker.terminate();
    const { entry } = thread;
    if (entry && why) {
      countEnd(entry.owner);
      entry.settle(why);
    }
    next();
  };

  const arm = (thread: Thread, ms: number, why: ComputeLimit | null) => {
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => end(thread, why), ms).unref();
  };

  const rest = (thread: Thread) => {
    arm(thread, idleMs, null);
    next();
  };

  const begin = (thread: Thread, entry: Entry) => {
    const { task } = entry;
    thread.entry = entry;
    try {
      thread.worker.postMessage(task, []);
    } catch {
      thread.entry = null;
      entry.settle(computeLimit('its values cannot be copied to a thread'));
      return rest(thread);
    }
    const maxCpuMs = 'maxCpuMs' in task ? task.maxCpuMs : undefined;
    if (maxCpuMs !== undefined) void watchProcessor(thread, entry, maxCpuMs);
    else arm(thread, timeoutMs, computeLimit(`it took longer than ${timeoutMs} ms (security.compute_timeout_ms)`));
  };

  /**
   * Ends the thread of a task that takes far more of the processor than it may, so that it delays others no longer, and one
   * that got too little of the processor for too long.
   */
  const watchProcessor = async (thread: Thread, entry: Entry, maxCpuMs: number) => {
    let spent = 0;
    clearTimeout(thread.timer);
    const ms = DEFINITION_TIMES * Math.max(timeoutMs, maxCpuMs);
    const late = () => (spent > maxCpuMs ? tooMuchProcessor(maxCpuMs) : passingLimit(`it took longer than ${ms} ms`));
    thread.timer = setTimeout(() => end(thread, late()), ms).unref();
    const before = await processorMs(thread.worker);
    while (thread.entry === entry && threads.has(thread)) {
      await delay(timeoutMs / 4, undefined, { ref: false });
      spent = (await processorMs(thread.worker)) - before;
      if (thread.entry === entry && spent > 2 * maxCpuMs) end(thread, tooMuchProcessor(maxCpuMs));
    }
  };

  const start = (entry: Entry) => {
    const worker = new Worker(new URL('./compute-worker.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMib, maxYoungGenerationSizeMb: memoryMib / 4 },
    });
    worker.unref();
    const thread: Thread = { worker, ready: false, entry, timer: undefined };
    threads.add(thread);
    arm(thread, START_MS, passingLimit('the thread for it did not start'));
    worker.on('message', (message: ThreadMessage) => {
      if ('result' in message) {
        thread.entry?.settle(message.result);
        thread.entry = null;
      }
      thread.ready = true;
      if (thread.entry) begin(thread, thread.entry);
      else rest(thread);
    });
    worker.once('error', (error) => end(thread, computeLimit(reasonOf(error, memoryMib))));
    worker.once('exit', () => end(thread, passingLimit('its thread ended')));
  };

  const idleThread = () => [...threads].find(({ ready, entry }) => ready && !entry);

  /** Gives idle threads an entry, then starts threads for what is left. */
  const next = (): void => {
    for (;;) {
      const thread = idleThread();
      if (!thread && threads.size >= maxThreads) return;
      for (const refused of waiting.drain(isRefused)) refused.settle(barred());
      const entry = waiting.take(isReady);
      if (!entry) return;
      if (thread) begin(thread, entry);
      else start(entry);
    }
  };

  return {
    isBarred,
    run: <T extends Task>(task: T, owner: Owner) =>
      new Promise<ResultOf<T> | ComputeLimit>((settle) => {
        if (closed) return settle(passingLimit('the service stops'));
        waiting.add({ task, owner, settle })?.settle(tooMany());
        next();
      }),
    close: async () => {
      closed = true;
      for (const { settle } of waiting.drain()) settle(passingLimit('the service stops'));
      const workers = [...threads].map(({ worker }) => worker);
      for (const thread of threads) {
        threads.delete(thread);
        clearTimeout(thread.timer);
        thread.entry?.settle(passingLimit('the service stops'));
      }
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** Zero where the thread has ended. */
const processorMs = (worker: Worker): Promise<number> =>
  worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => 0,
  );

const tooMany = () =>
  passingLimit('too many evaluations wait for a thread, most of them of the same pipeline, agent or caller');
const barred = () => computeLimit('two evaluations before it took too long or too much memory');

const reasonOf = (error: unknown, memoryMib: number): string =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? `it took more than ${memoryMib} MiB of memory`
    : 'its thread failed';
