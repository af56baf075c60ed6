import { AppError } from '@signalbox/crds';
import { asker } from '@signalbox/crds/process/asker';
import { FairQueue, type Owner } from '@signalbox/crds/process/compute/fair-queue';

/** What waits for its turn to be read. */
export interface Waiting {
  owner: Owner;
  reject(error: unknown): void;
}

export interface Turns<Entry extends Waiting> {
  /** Where too many wait, the newest of who asks for most is refused. */
  add(entry: Entry): void;
  take(): Entry | null;
  leave(entry: Entry): void;
}

/** Who asks, by their tokens, take turns, and so do the requests of each: who asks for much waits for himself alone. */
export function createTurns<Entry extends Waiting>(maxWaiting: number): Turns<Entry> {
  const queue = new FairQueue<Entry>({ maxWaiting, maxPerShare: maxWaiting, groupOf });
  return {
    add: (entry) => queue.add(entry)?.reject(busy()),
    take: () => queue.take(() => true),
    leave: (entry) => void queue.drain((one) => one === entry),
  };
}

const groupOf = (share: string): string => share.slice(share.indexOf(' ') + 1);

const numbers = new WeakMap<AbortSignal, number>();
let last = 0;

/** Of what is read for one request. */
export function ownerOf(request: AbortSignal): Owner {
  const number = numbers.get(request) ?? ++last;
  numbers.set(request, number);
  return { run: null, share: `${number} ${asker()}` };
}

/** Performs so many reads at a time; the others wait for their turn. */
export function createGate({ places, maxWaiting }: { places: number; maxWaiting: number }) {
  const turns = createTurns<Waiting & { go(): void }>(maxWaiting);
  let free = places;
  const next = () => {
    for (let entry = free > 0 ? turns.take() : null; entry; entry = free > 0 ? turns.take() : null) {
      free -= 1;
      entry.go();
    }
  };
  return async <T>(request: AbortSignal, read: () => Promise<T>): Promise<T> => {
    if (request.aborted) throw gaveUp(request.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { owner: ownerOf(request), go: resolve, reject };
    const leave = () => {
      turns.leave(entry);
      reject(gaveUp(request.reason));
    };
    request.addEventListener('abort', leave, { once: true });
    turns.add(entry);
    next();
    await promise.finally(() => request.removeEventListener('abort', leave));
    try {
      return await read();
    } finally {
      free += 1;
      next();
    }
  };
}

export const busy = () => new AppError('unavailable', 'too many statistics are asked for at once; try again');
export const gaveUp = (cause: unknown) => new AppError('unavailable', 'the statistics took too long', { cause });
