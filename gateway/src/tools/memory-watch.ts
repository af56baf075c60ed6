import { markOf } from './orphan-watch.ts';
import { processes } from './process-table.ts';

/** A tool server's processes: its group, and what left that but still carries its mark. */
export interface ToolProcesses {
  /** Of the group's leader. */
  pid: number;
  mark: string;
}

/** Calls `onExceeded` once when they hold more than `limitBytes`; returns what ends the watch. */
export type WatchMemory = (those: ToolProcesses & { limitBytes: number }, onExceeded: () => void) => () => void;

interface Watched extends ToolProcesses {
  limitBytes: number;
  onExceeded: () => void;
}
/** Resident bytes by the id of the group's leader. */
type ReadMemory = (all: readonly ToolProcesses[]) => Map<number, number>;

/** One look at all processes every `everyMs`, only while there is one to watch. Elsewhere than on Linux it sees nothing. */
export function createMemoryWatch(readMemory: ReadMemory, everyMs: number): WatchMemory {
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const held = readMemory([...watched]);
    for (const one of watched) {
      if ((held.get(one.pid) ?? 0) <= one.limitBytes) continue;
      watched.delete(one);
      one.onExceeded();
    }
  };
  return (those, onExceeded) => {
    const one = { ...those, onExceeded };
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

/** Empty where there is no /proc. */
export const readMemory: ReadMemory = (all) => {
  const held = new Map(all.map(({ pid }) => [pid, 0]));
  const byMark = new Map(all.map(({ pid, mark }) => [mark, pid]));
  for (const { pid, group, residentPages } of processes()) {
    const leader = held.has(group) ? group : byMark.get(markOf(pid) ?? '');
    if (leader !== undefined) held.set(leader, (held.get(leader) ?? 0) + residentPages * PAGE_BYTES);
  }
  return held;
};
