import { processes } from './process-table.ts';

/** Calls `onExceeded` once when a process group holds more than `limitBytes`; returns what ends the watch. */
export type WatchMemory = (group: { pid: number; limitBytes: number }, onExceeded: () => void) => () => void;

interface Watched {
  pid: number;
  limitBytes: number;
  onExceeded: () => void;
}

/** One look at all process groups every `everyMs`, only while there is one to watch. Elsewhere than on Linux it sees nothing. */
export function createMemoryWatch(readGroups: () => Map<number, number>, everyMs: number): WatchMemory {
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const groups = readGroups();
    for (const one of watched) {
      if ((groups.get(one.pid) ?? 0) <= one.limitBytes) continue;
      watched.delete(one);
      one.onExceeded();
    }
  };
  return (group, onExceeded) => {
    const one = { ...group, onExceeded };
    watched.add(one);
    timer ??= setInterval(look, everyMs).unref();
    return () => {
      watched.delete(one);
      if (watched.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}

const PAGE_BYTES = 4096;

/** Resident bytes of every process group, by the id of its leader; empty where there is no /proc. */
export function readGroupMemory(): Map<number, number> {
  const groups = new Map<number, number>();
  for (const { group, residentPages } of processes())
    groups.set(group, (groups.get(group) ?? 0) + residentPages * PAGE_BYTES);
  return groups;
}
