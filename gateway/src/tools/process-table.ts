import { readFileSync } from 'node:fs';
import { processIds } from '@signalbox/crds/process/carriers';
import { createRest } from '@signalbox/crds/process/rest';

export interface ProcessRow {
  pid: number;
  state: string;
  parent: number;
  group: number;
  /** With the id it is of one process only. */
  started: string;
  residentPages: number;
}

/** Every process, with other work in between where they are many; none where there is no /proc. */
export async function* processes(): AsyncGenerator<ProcessRow> {
  const rest = createRest();
  for (const pid of await processIds()) {
    await rest();
    const row = readRow(pid);
    if (row) yield row;
  }
}

/** False when all that is left of a group are ended processes that their parent has not collected. True where this is unknown. */
export async function isGroupAlive(group: number): Promise<boolean> {
  let known = false;
  for await (const row of processes()) {
    known = true;
    if (row.group === group && row.state !== 'Z' && row.state !== 'X') return true;
  }
  return !known;
}

/** Ends the processes, where they are still those of the rows. */
export async function killProcesses(rows: readonly ProcessRow[]): Promise<void> {
  const rest = createRest();
  for (const { pid, started } of rows) {
    await rest();
    if (readRow(String(pid))?.started === started) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile, or is another user's.
  }
}

/** Fields after the command, which may itself hold spaces and brackets: state, ppid, pgrp … start is the 20th of them, rss the 22nd. */
function readRow(pid: string): ProcessRow | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      pid: Number(pid),
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      group: Number(fields[2]),
      started: fields[19] ?? '',
      residentPages: Number(fields[21]),
    };
  } catch {
    // It ended meanwhile.
    return null;
  }
}
