import type { ProcessRow } from './process-table.ts';
import type { ReadUse, ToolProcesses } from './read-use.ts';

/**
 * Calls `onExceeded` once when they hold more than `limitBytes`, or are too many, with the reason. Returns what ends the watch, and
 * answers which processes outside the group the last look saw.
 */
export type WatchMemory = (
  those: ToolProcesses & { limitBytes: number },
  onExceeded: (reason: string) => void,
) => () => readonly ProcessRow[];

interface Watched extends ToolProcesses {
  limitBytes: number;
  onExceeded: (reason: string) => void;
  strays: readonly ProcessRow[];
}

const MEBIBYTE = 1024 * 1024;
/** Each costs every look its time. */
const MOST_PROCESSES = 1000;

/** One look at all processes every `everyMs`, only while there is one to watch. Elsewhere than on Linux it sees nothing. */
export function createMemoryWatch(readUse: ReadUse, everyMs: number): WatchMemory {
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    const uses = await readUse([...watched]).finally(() => (isLooking = false));
    for (const one of watched) {
      const use = uses.get(one.pid);
      if (use === undefined) continue;
      one.strays = use.strays;
      const problem =
        use.bytes > one.limitBytes
          ? `used more than ${Math.round(one.limitBytes / MEBIBYTE)} MiB of memory`
          : use.processes > MOST_PROCESSES
            ? `ran more than ${MOST_PROCESSES} processes`
            : null;
      if (problem === null) continue;
      watched.delete(one);
      one.onExceeded(problem);
    }
  };
  return (those, onExceeded) => {
    const one: Watched = { ...those, onExceeded, strays: [] };
    watched.add(one);
    timer ??= setInterval(() => void look(), everyMs).unref();
    return () => {
      watched.delete(one);
      if (watched.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      return one.strays;
    };
  };
}
