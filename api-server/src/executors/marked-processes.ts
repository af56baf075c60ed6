import { randomBytes } from 'node:crypto';
import { carriersOf } from '@signalbox/crds/process/carriers';

/** The variable that a command and all that it starts inherit. */
const NAME = 'SIGNALBOX_CHECK';
/** What starts a process while it is looked for is found by the next look. */
const MOST_LOOKS = 5;
/** More than a check and the shell put into an environment. */
const MOST_BYTES = 2 * 1024 * 1024;

export const newMark = (): { [NAME]: string } => ({ [NAME]: randomBytes(12).toString('hex') });

/**
 * Kills every process that inherited the mark, whatever group or session it moved to. Where there is no /proc, and for a process
 * that cleared its environment, nothing is found. Never rejects.
 */
export async function killMarked(mark: ReturnType<typeof newMark>): Promise<void> {
  const text = `${NAME}=${mark[NAME]}`;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    let found = false;
    for await (const pid of carriersOf(text, MOST_BYTES)) {
      kill(pid);
      found = true;
    }
    if (!found) return;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
