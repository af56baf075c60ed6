import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { processIds } from './process-table.ts';

/** A started process group, from its start to its end. */
export interface Guarded {
  /** Signals what left the group and lives on: daemons with a session of their own. False when there is none. */
  signalStrays(signal: NodeJS.Signals): boolean;
  /** Call when the group has ended. */
  release(): void;
}

/** Sees to it that no process of a tool server outlives the gateway, not even when the gateway is killed. */
export interface OrphanWatch {
  /** What the next process must have in its environment, by which it and all its offspring are known. */
  mark(): { name: string; value: string };
  guard(pid: number, mark: { name: string; value: string }): Guarded;
  close(): void;
}

const VARIABLE = 'SIGNALBOX_TOOL_SERVER';
const MIN_LIFE_MS = 1000;

/**
 * Its input lists the living groups (`+PID`, `-PID`) and ends with the gateway: then the script ends those groups and every
 * other process with the mark. A shell, because a second Node for this would cost 40 MB; it needs `grep` for the strays only.
 */
const SCRIPT = `
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
  esac
done
strays() { grep -lF "$1" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do echo "$pid"; done; }
end() {
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null; done
  for pid in $(strays "$2"); do kill -s "$1" "$pid" 2>/dev/null; done
}
[ -n "\${groups# }$(strays "$1")" ] || exit 0
end TERM "$1"
sleep 2
end KILL "$1"
`;

/** One watching process for all groups, started with the first one; `path` is where it looks for its programs, `onMissing` hears where there is no shell. */
export function createOrphanWatch(path: string | undefined, onMissing: (reason: string) => void): OrphanWatch {
  const gateway = randomUUID();
  const guarded = new Set<number>();
  let watcher: ChildProcess | null = null;
  let closed = false;

  function send(line: string): void {
    if (watcher?.stdin?.writable) watcher.stdin.write(`${line}\n`);
  }

  function start(): void {
    const started = performance.now();
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'signalbox-orphan-watch', `${VARIABLE}=${gateway}.`], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: path ?? '/usr/bin:/bin' },
      cwd: '/',
      detached: true,
    });
    watcher = child;
    child.unref();
    child.stdin?.on('error', () => {});
    child.once('error', (error) => onMissing(error.message));
    child.once('exit', () => {
      if (watcher === child) watcher = null;
      if (!closed && guarded.size > 0 && performance.now() - started > MIN_LIFE_MS) start();
    });
    for (const pid of guarded) send(`+ ${pid}`);
  }

  return {
    // Not to be guessed: what carries the mark of another server is counted and ended with that one.
    mark: () => ({ name: VARIABLE, value: `${gateway}.${randomUUID()}.` }),
    guard(pid, { name, value }) {
      guarded.add(pid);
      if (watcher) send(`+ ${pid}`);
      else if (!closed) start();
      return {
        signalStrays: (signal) => signalMarked(`${name}=${value}\0`, signal),
        release: () => {
          if (guarded.delete(pid)) send(`- ${pid}`);
        },
      };
    },
    close() {
      closed = true;
      watcher?.stdin?.end();
    },
  };
}

/** The value of the mark that a process carries; null for a process that has ended, is another user's or has none. */
export function markOf(pid: string): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return fields.find((field) => field.startsWith(`${VARIABLE}=`))?.slice(VARIABLE.length + 1) ?? null;
  } catch {
    return null;
  }
}

/** Signals every process whose environment holds the text; elsewhere than on Linux it finds none. */
function signalMarked(text: string, signal: NodeJS.Signals): boolean {
  let found = false;
  for (const pid of processIds()) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').concat('\0').includes(text)) continue;
      process.kill(Number(pid), signal);
      found = true;
    } catch {
      // It ended meanwhile, or is another user's.
    }
  }
  return found;
}
