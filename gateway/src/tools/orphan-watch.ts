import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { carriersOf, environmentOf } from '@signalbox/crds/process/carriers';

/** A started process group, from its start to its end. */
export interface Guarded {
  /** Signals what left the group and lives on: daemons with a session of their own. */
  signalStrays(signal: NodeJS.Signals): Promise<void>;
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
/** Of an environment: the mark stands at its beginning. */
const MOST_BYTES = 64 * 1024;

/**
 * Its input lists the living groups (`+PID`, `-PID`) and ends with the gateway: then the script ends those groups and every
 * other process with the mark. A shell, because a second Node for this would cost 40 MB; it needs `head` and
 * `grep` for the strays only.
 */
const SCRIPT = `
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
  esac
done
strays() {
  for environment in /proc/[0-9]*/environ; do
    head -c ${MOST_BYTES} "$environment" 2>/dev/null | grep -qF "$1" || continue
    pid=\${environment#/proc/}
    echo "\${pid%/environ}"
  done
}
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
        signalStrays: (signal) => signalMarked(`${name}=${value}`, signal),
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

const VALUE = new RegExp(`(?:^|\\0)${VARIABLE}=([^\\0]+)`);

/** The value of the mark that a process carries; null for a process that has ended, is another user's or has none. */
export async function markOf(pid: number): Promise<string | null> {
  const environment = await environmentOf(String(pid), Buffer.allocUnsafe(MOST_BYTES));
  return VALUE.exec(environment.toString('latin1'))?.[1] ?? null;
}

/** Signals every process whose environment holds the text; elsewhere than on Linux it finds none. */
async function signalMarked(text: string, signal: NodeJS.Signals): Promise<void> {
  for await (const pid of carriersOf(text, MOST_BYTES)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended meanwhile, or is another user's.
    }
  }
}
