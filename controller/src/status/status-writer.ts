import type { CustomObject } from '../objects/custom-object.ts';
import type { ObjectStatus } from '../objects/object-status.ts';
import { sameStatus, type Transition, transitions } from './next-status.ts';

/** `refused` is about one object; `unavailable` may be about the API server: it is down, restarts or asks for patience. */
export type WriteOutcome = 'done' | 'refused' | 'unavailable';

export interface WriterDeps {
  /** Replaces the status of exactly this object. */
  write(object: CustomObject, status: ObjectStatus): Promise<WriteOutcome>;
  /** Records the transition as an Event. */
  record(object: CustomObject, transition: Transition): Promise<void>;
  /** False once another process leads: nothing more is begun then. */
  mayWrite(): boolean;
  /** Milliseconds that never step back. */
  now(): number;
  wait(ms: number): Promise<void>;
  random(): number;
}

export interface Wanted {
  object: CustomObject;
  status: ObjectStatus;
}

/** Writes the statuses that differ. An object whose write failed waits alone; the others are written. */
export interface StatusWriter {
  /** Returns when to call again (ms of the same clock), or null where all is written. */
  write(wanted: readonly Wanted[]): Promise<number | null>;
}

/** What one client may ask of an API server that serves others too: requests at the same time, and writes a second. */
export const AT_ONCE = 24;
export const A_SECOND = 300;
/** So many writes in a row that found no API server end the round: it is not asked for every object. */
const MAX_UNAVAILABLE = 5;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

export function createStatusWriter(deps: WriterDeps): StatusWriter {
  const { write, record, mayWrite, now, random } = deps;
  const failures = new Map<string, { count: number; until: number }>();
  const pace = createPace(deps);
  const pauseAfter = (count: number): number =>
    now() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 10)) * (0.75 + random() / 2);
  let unavailable = 0;
  let outage = { count: 0, until: 0 };

  const writeOne = async ({ object, status }: Wanted): Promise<void> => {
    const outcome = await write(object, status);
    unavailable = outcome === 'unavailable' ? unavailable + 1 : 0;
    if (outcome === 'done') {
      failures.delete(object.uid);
      outage = { count: 0, until: 0 };
      for (const transition of transitions(object.status, status)) await record(object, transition);
      return;
    }
    const count = (failures.get(object.uid)?.count ?? 0) + 1;
    failures.set(object.uid, { count, until: pauseAfter(count) });
  };

  /** Ends early where another leads by now or no API server answers. */
  const writeAll = async (due: readonly Wanted[]): Promise<void> => {
    unavailable = 0;
    const queue = due.values();
    const writeInTurn = async () => {
      for (const one of queue) {
        await pace();
        if (!mayWrite() || unavailable >= MAX_UNAVAILABLE) return;
        await writeOne(one);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, writeInTurn));
    if (unavailable < MAX_UNAVAILABLE) return;
    outage = { count: outage.count + 1, until: pauseAfter(outage.count + 1) };
  };

  return {
    write: async (wanted) => {
      const different = wanted.filter(({ object, status }) => !sameStatus(object.status, status));
      const known = new Set(different.map(({ object }) => object.uid));
      for (const uid of failures.keys()) if (!known.has(uid)) failures.delete(uid);
      if (outage.until > now()) return outage.until;
      await writeAll(different.filter(({ object }) => (failures.get(object.uid)?.until ?? 0) <= now()));
      if (outage.until > now()) return outage.until;
      const waiting = [...failures.values()].map(({ until }) => until);
      return waiting.length === 0 ? null : Math.min(...waiting);
    },
  };
}

/** Lets `A_SECOND` callers through a second, the first ones of a second at once. */
function createPace({ now, wait }: Pick<WriterDeps, 'now' | 'wait'>): () => Promise<void> {
  let second = { since: 0, count: 0 };
  return async () => {
    for (;;) {
      const passed = now() - second.since;
      if (passed >= 1000) second = { since: now(), count: 0 };
      if (second.count < A_SECOND) break;
      await wait(1000 - passed);
    }
    second.count += 1;
  };
}
