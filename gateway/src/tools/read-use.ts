import { markOf } from './orphan-watch.ts';
import { type ProcessRow, processes } from './process-table.ts';

/** A tool server's processes: its group, what descends from that, and what left it but carries its mark. */
export interface ToolProcesses {
  /** Of the group's leader. */
  pid: number;
  mark: string;
}

/** What the processes of a tool server hold together. */
interface Use {
  /** Resident. */
  bytes: number;
  processes: number;
  /** Those outside the group. */
  strays: ProcessRow[];
}

/** By the id of the group's leader; nothing is held where there is no /proc. */
export type ReadUse = (all: readonly ToolProcesses[]) => Promise<Map<number, Use>>;

const PAGE_BYTES = 4096;

export function createReadUse(): ReadUse {
  /** Whose each process is that was seen: one whose parents have ended stays known, and its environment is read once. */
  let known = new Map<string, string | null>();
  return async (all) => {
    const rows = new Map<number, ProcessRow>();
    for await (const row of processes()) rows.set(row.pid, row);
    const descent = marksByDescent(rows, new Map(all.map(({ pid, mark }) => [pid, mark])));
    const uses = new Map(all.map(({ pid }): [number, Use] => [pid, { bytes: 0, processes: 0, strays: [] }]));
    const leaders = new Map(all.map(({ pid, mark }) => [mark, pid]));
    const seen = new Map<string, string | null>();
    for (const row of rows.values()) {
      const process = `${row.pid} ${row.started}`;
      const found = descent.get(row.pid) ?? known.get(process);
      const mark = found === undefined ? await markOf(row.pid) : found;
      seen.set(process, mark);
      const leader = leaders.get(mark ?? '');
      const use = uses.get(leader ?? 0);
      if (use === undefined) continue;
      if (row.group !== leader) use.strays.push(row);
      use.bytes += row.residentPages * PAGE_BYTES;
      use.processes += 1;
    }
    known = seen;
    return uses;
  };
}

/**
 * The mark of the group above each process, where there is one. Nothing gets out of this in a namespace of processes: what
 * loses its parent there is given to the namespace's first process, which is of the group.
 */
function marksByDescent(
  rows: ReadonlyMap<number, ProcessRow>,
  groups: ReadonlyMap<number, string>,
): Map<number, string | undefined> {
  const marks = new Map<number, string | undefined>();
  for (const row of rows.values()) {
    const path: number[] = [];
    let at: ProcessRow | undefined = row;
    while (at !== undefined && !marks.has(at.pid)) {
      path.push(at.pid);
      marks.set(at.pid, groups.get(at.group));
      if (!groups.has(at.group)) at = rows.get(at.parent);
    }
    const mark = at && marks.get(at.pid);
    for (const pid of path) marks.set(pid, mark);
  }
  return marks;
}
