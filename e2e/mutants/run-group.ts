import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a Node program in a process group of its own, which ends with the program, with this process, or after `mostMs`. */
export async function runGroup(
  args: readonly string[],
  { cwd, mostMs }: { cwd: string; mostMs: number },
): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, stdio: 'ignore', detached: true });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${args[0]} cannot be started`);
  const interrupted = () => {
    endGroup(pid);
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const timer = setTimeout(() => endGroup(pid), mostMs);
  await once(child, 'exit');
  clearTimeout(timer);
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  endGroup(pid);
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
