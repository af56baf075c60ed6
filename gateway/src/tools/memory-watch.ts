import { readdirSync, readFileSync } from 'node:fs';

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
  for (const pid of processIds()) {
    const stat = readStat(pid);
    if (stat) groups.set(stat.group, (groups.get(stat.group) ?? 0) + stat.residentPages * PAGE_BYTES);
  }
  return groups;
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => name >= '1' && name < ':');
  } catch {
    return [];
  }
}

/** Fields after the command, which may itself hold spaces and brackets: state, ppid, pgrp … rss is the 22nd of them. */
function readStat(pid: string): { group: number; residentPages: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { group: Number(fields[2]), residentPages: Number(fields[21]) };
  } catch {
    // It ended meanwhile.
    return null;
  }
}
