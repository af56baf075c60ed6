import { getHeapStatistics } from 'node:v8';
import { AppError } from '@signalbox/crds';
import { asker } from '@signalbox/crds/process/asker';
import { FairQueue, type Owner } from '@signalbox/crds/process/compute/fair-queue';
import { heldNow } from './held.ts';

export interface ReadingLimits {
  /** Of memory that all answers which are made take, as far as it is for texts of runs. */
  bytes: number;
  maxWaiting: number;
  waitMs: number;
}

const LIMITS: ReadingLimits = { bytes: getHeapStatistics().heap_size_limit / 8, maxWaiting: 200, waitMs: 30_000 };

/** A text is there as it is stored, as a value, and in the answer, with what lies between them. */
const COPIES = 4;
/** Texts up to which an answer has a room of its own: it does not wait behind long ones. */
const SMALL_BYTES = 256 * 1024;
const RETRY_SECONDS = 5;

/** Too many large answers are made at the moment. */
export class NoRoom extends AppError {
  readonly retryAfterSeconds = RETRY_SECONDS;
  constructor() {
    super('unavailable', 'too many large runs or reports are read at once; try again in a few seconds');
  }
}

/** Reads texts of so many bytes once there is room. The room is free again when the answer of the request is taken. */
export type Reading = <T>(bytes: number, read: () => Promise<T>) => Promise<T>;

export function createReadingRoom(limits: ReadingLimits = LIMITS): Reading {
  const long = createRoom(limits);
  const short = createRoom({ ...limits, bytes: limits.bytes / 2 });
  return async (bytes, read) => {
    const release = await (bytes > SMALL_BYTES ? long : short)(bytes * COPIES);
    const held = heldNow();
    held?.whenTaken(release);
    // Who asked has left.
    if (held?.isTaken()) throw new NoRoom();
    try {
      return await read();
    } finally {
      if (!held) release();
    }
  };
}

interface Waiting {
  owner: Owner;
  need: number;
  enter(): void;
  reject(error: unknown): void;
}

/** Who asks, by their tokens, take turns. What is larger than the room is in it alone. */
function createRoom({ bytes, maxWaiting, waitMs }: ReadingLimits): (need: number) => Promise<() => void> {
  const queue = new FairQueue<Waiting>({ maxWaiting, maxPerShare: maxWaiting, groupOf: (share) => share });
  let used = 0;
  /** Nobody passes it, else what needs much would wait for ever. */
  let first: Waiting | null = null;
  const next = () => {
    first ??= queue.take(() => true);
    while (first && (used === 0 || used + first.need <= bytes)) {
      used += first.need;
      first.enter();
      first = queue.take(() => true);
    }
  };
  const leave = (entry: Waiting) => {
    if (first === entry) first = null;
    else queue.drain((one) => one === entry);
    entry.reject(new NoRoom());
    next();
  };
  return async (need) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { owner: { run: null, share: asker() }, need, enter: resolve, reject };
    queue.add(entry)?.reject(new NoRoom());
    next();
    const timer = setTimeout(() => leave(entry), waitMs);
    await promise.finally(() => clearTimeout(timer));
    return () => {
      used -= need;
      next();
    };
  };
}
