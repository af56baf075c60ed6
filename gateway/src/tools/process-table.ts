import { readdirSync, readFileSync } from 'node:fs';

interface ProcessRow {
  pid: string;
  state: string;
  group: number;
  residentPages: number;
}

/** Every process; none where there is no /proc. */
export function* processes(): Generator<ProcessRow> {
  for (const pid of processIds()) {
    const row = readRow(pid);
    if (row) yield row;
  }
}

/** False when all that is left of a group are ended processes that their parent has not collected. True where this is unknown. */
export function isGroupAlive(group: number): boolean {
  let known = false;
  for (const row of processes()) {
    known = true;
    if (row.group === group && row.state !== 'Z' && row.state !== 'X') return true;
  }
  return !known;
}

/** Ids of all processes, as text; empty where there is no /proc. */
export function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => name >= '1' && name < ':');
  } catch {
    return [];
  }
}

/** Fields after the command, which may itself hold spaces and brackets: state, ppid, pgrp … rss is the 22nd of them. */
function readRow(pid: string): ProcessRow | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state: fields[0] ?? '', group: Number(fields[2]), residentPages: Number(fields[21]) };
  } catch {
    // It ended meanwhile.
    return null;
  }
}
