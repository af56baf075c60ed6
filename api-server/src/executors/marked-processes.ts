import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** The variable that a command and all that it starts inherit. */
const NAME = 'SIGNALBOX_CHECK';
/** What starts a process while it is looked for is found by the next look. */
const MOST_LOOKS = 5;

export const newMark = (): { [NAME]: string } => ({ [NAME]: randomBytes(12).toString('hex') });

/**
 * Kills every process that inherited the mark, whatever group or session it moved to. Where there is no /proc, and for a process
 * that cleared its environment, nothing is found. Never rejects.
 */
export async function killMarked(mark: ReturnType<typeof newMark>): Promise<void> {
  const text = `${NAME}=${mark[NAME]}\0`;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const found = await carriersOf(text);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

async function carriersOf(text: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  // A process of another user cannot be read, and was not started here.
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')));
  return pids.flatMap((pid, at) => (environments[at]?.includes(text) ? [Number(pid)] : []));
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
