import type { DeliveryRecord } from '../../triggers/delivery-record.ts';

export interface DeliveryLogDeps<Tx> {
  write(job: (tx: Tx) => Promise<void>): Promise<void>;
  insert(tx: Tx, record: DeliveryRecord): Promise<void>;
  /** Counts what is not kept, by requested source. */
  countDropped(source: string | null, outcome: string): void;
  /** Names of the sources; any other name shares one bound. */
  sources: readonly string[];
  now(): number;
  later(milliseconds: number, call: () => void): () => void;
}

/** The rows of one delivery on their way into a transaction. */
export interface Entry<Tx> {
  /** For the transaction that stores the runs of the delivery; it may run twice. */
  store(tx: Tx, record: DeliveryRecord): Promise<void>;
  /** The transaction stored nothing. */
  failed(): void;
}

/** Keeps every delivery with its outcome. */
export interface DeliveryLog<Tx> {
  open(): Entry<Tx>;
  /** A delivery that started no run: stored with the next one that does, or a moment later; only counted where too many come. */
  keepLater(of: { source: string | null; outcome: DeliveryRecord['outcome'] }, make: () => DeliveryRecord | null): void;
  /** Stores what waits. */
  flush(): Promise<void>;
}

/** Deliveries without a run that one source may have stored in a minute. */
export const MAX_A_MINUTE = 600;
/** Characters of their bodies, labels and alerts. */
export const MAX_CHARS_A_MINUTE = 8 * 1024 * 1024;
const MINUTE_MS = 60_000;
/** How long they wait for a delivery that starts a run, so that they cost no fsync of their own. */
const WAIT_MS = 2_000;
const MAX_WAITING = 128;

export function createDeliveryLog<Tx>(deps: DeliveryLogDeps<Tx>): DeliveryLog<Tx> {
  const roomOf = roomBySource(deps);
  let waiting: DeliveryRecord[] = [];
  let cancelTimer: (() => void) | null = null;

  const take = (): DeliveryRecord[] => {
    cancelTimer?.();
    cancelTimer = null;
    return waiting.splice(0);
  };
  const schedule = () => void (cancelTimer ??= deps.later(WAIT_MS, () => void flush()));
  const insertAll = async (tx: Tx, records: readonly DeliveryRecord[]) => {
    for (const record of records) await deps.insert(tx, record);
  };
  const flush = async () => {
    const records = take();
    if (records.length === 0) return;
    // Where the database takes no writes they are only counted: more come, and memory is bounded.
    await deps
      .write((tx) => insertAll(tx, records))
      .catch(() => {
        for (const { source, outcome } of records) deps.countDropped(source, outcome);
      });
  };
  return {
    open: () => {
      let taken: DeliveryRecord[] | null = null;
      return {
        store: (tx, record) => {
          taken ??= take();
          return taken.length === 0 ? deps.insert(tx, record) : insertAll(tx, [...taken, record]);
        },
        failed: () => {
          waiting = [...(taken ?? []), ...waiting];
          if (waiting.length > 0) schedule();
        },
      };
    },
    keepLater: ({ source, outcome }, make) => {
      const room = roomOf(source);
      const record = room.deliveries > 0 ? make() : null;
      if (record === null || !takes(room, record)) return deps.countDropped(source, outcome);
      waiting.push(record);
      if (waiting.length >= MAX_WAITING) void flush();
      else schedule();
    },
    flush,
  };
}

/** What one source may still have stored in this minute. */
interface Room {
  minute: number;
  deliveries: number;
  chars: number;
}

function roomBySource({ sources, now }: Pick<DeliveryLogDeps<never>, 'sources' | 'now'>) {
  const rooms = new Map<string, Room>();
  return (asked: string | null): Room => {
    const source = asked !== null && sources.includes(asked) ? asked : '';
    const minute = Math.floor(now() / MINUTE_MS);
    const known = rooms.get(source);
    if (known?.minute === minute) return known;
    const fresh = { minute, deliveries: MAX_A_MINUTE, chars: MAX_CHARS_A_MINUTE };
    rooms.set(source, fresh);
    return fresh;
  };
}

/** False where the record is larger than what is left; a smaller one may still be kept. */
function takes(room: Room, { raw, labels, alerts, closest }: DeliveryRecord): boolean {
  const size = (raw?.length ?? 0) + JSON.stringify([labels, alerts, closest]).length;
  if (size > room.chars) return false;
  room.deliveries -= 1;
  room.chars -= size;
  return true;
}
