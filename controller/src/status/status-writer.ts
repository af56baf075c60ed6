import type { CustomObject, ObjectStatus } from '../objects/custom-object.ts';
import { sameStatus, type Transition, transitions } from './next-status.ts';

export interface WriterDeps {
  /** Replaces the status of exactly this object; false where the API server refused it. */
  write(object: CustomObject, status: ObjectStatus): Promise<boolean>;
  /** Records the transition as an Event. */
  record(object: CustomObject, transition: Transition): Promise<void>;
  now(): number;
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

const AT_ONCE = 8;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

export function createStatusWriter({ write, record, now, random }: WriterDeps): StatusWriter {
  const failures = new Map<string, { count: number; until: number }>();

  const writeOne = async ({ object, status }: Wanted): Promise<void> => {
    if (await write(object, status)) {
      failures.delete(object.uid);
      for (const transition of transitions(object.status, status)) await record(object, transition);
      return;
    }
    const count = (failures.get(object.uid)?.count ?? 0) + 1;
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 10)) * (0.75 + random() / 2);
    failures.set(object.uid, { count, until: now() + pause });
  };

  return {
    write: async (wanted) => {
      const different = wanted.filter(({ object, status }) => !sameStatus(object.status, status));
      const known = new Set(different.map(({ object }) => object.uid));
      for (const uid of failures.keys()) if (!known.has(uid)) failures.delete(uid);
      const due = different.filter(({ object }) => (failures.get(object.uid)?.until ?? 0) <= now());
      const queue = due.values();
      const writeInTurn = async () => {
        for (const one of queue) await writeOne(one);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, writeInTurn));
      const waiting = [...failures.values()].map(({ until }) => until);
      return waiting.length === 0 ? null : Math.min(...waiting);
    },
  };
}
