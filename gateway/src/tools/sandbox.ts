import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ProcessSpec } from './process-group.ts';

/** A folder that only this process sees, and where: in place of an empty one. */
export interface OwnHome {
  from: string;
  at: string;
  /** For its temporary files, below `at`. */
  tmp: string;
}

/** What a sandboxed process may not see or change. */
export interface Sandbox {
  /** Programs of util-linux. */
  unshare: string;
  mount: string;
  /** Files and folders that are empty for it. */
  hidden: readonly string[];
  /** Folders that it cannot rename, outer ones first. */
  pinned: readonly string[];
  /** Folders in which it cannot write. */
  readOnly: readonly string[];
  home?: OwnHome | null;
  /** Whether it sees, and can signal, processes outside the sandbox. */
  hostProcesses: boolean;
}

/**
 * Runs in a user and a mount namespace, as their root: is the first that the kernel ends where memory is short, mounts on themselves folders that are pinned, and its home in its place, covers what is hidden, leaves a folder that is now covered, then enters a second user namespace, which
 * has no rights over the first one's mounts, under the ids that the process would have without any. A process of another
 * user namespace may not read environment, memory or open files of the gateway's processes, although their user is the same.
 * Mounts follow links, so a link that another server can have put in a hidden place is left alone.
 */
const SCRIPT = `
mount=$1 unshare=$2 uid=$3 gid=$4 leader=$5
shift 5
{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
while [ "$1" != -- ]; do
  path=\${1#*:}
  case $1 in
    pin:*) "$mount" --rbind "$path" "$path" || exit 126 ;;
    read:*) "$mount" --rbind -o ro,nosuid,nodev,noexec "$path" "$path" || exit 126 ;;
    home:*) shift; "$mount" --bind "$path" "$1" || exit 126 ;;
    *) if [ -h "$path" ] && [ -w "\${path%/*}/" ]; then :
      elif [ -d "$path" ]; then "$mount" -t tmpfs -o ro,mode=755 none "$path" || exit 126
      elif [ -e "$path" ]; then "$mount" --bind /dev/null "$path" || exit 126; fi ;;
  esac
  shift
done
shift
cd "$PWD" || exit 126
set -- "$unshare" --user --map-user="$uid" --map-group="$gid" -- "$@"
[ "$leader" = shell ] || exec "$@"
"$@"
exit $?
`;

/** The same process in a sandbox. The first process of a namespace of processes gets no SIGTERM, so a shell is it, and collects what ends. */
export function sandboxed<S extends Pick<ProcessSpec, 'command' | 'args'>>(spec: S, sandbox: Sandbox): S {
  const { unshare, mount, hidden, pinned, readOnly, home, hostProcesses } = sandbox;
  const own = hostProcesses ? [] : ['--pid', '--fork', '--kill-child', '--mount-proc'];
  const ids = [process.getuid?.(), process.getgid?.()].map(String);
  const leader = hostProcesses ? 'server' : 'shell';
  const mounts = [
    ...pinned.map((path) => `pin:${path}`),
    ...readOnly.map((path) => `read:${path}`),
    ...(home ? [`home:${home.from}`, home.at] : []),
    ...hidden.map((path) => `hide:${path}`),
  ];
  const script = ['/bin/sh', '-c', SCRIPT, 'signalbox-sandbox', mount, unshare, ...ids, leader, ...mounts, '--'];
  const args = ['--user', '--map-root-user', '--mount', ...own, ...script, spec.command, ...spec.args];
  return { ...spec, command: unshare, args };
}

const PROBE_MS = 10_000;

/** Null where sandboxes work here, else the reason. */
export function sandboxProblem(sandbox: Sandbox): Promise<string | null> {
  const { command, args } = sandboxed({ command: 'true', args: [] }, sandbox);
  return new Promise((resolve) => {
    execFile(command, args, { timeout: PROBE_MS, cwd: '/' }, (error, _, stderr) => {
      resolve(error === null ? null : ((stderr.trim().split('\n')[0] || error.message.split('\n')[0]) ?? 'failed'));
    });
  });
}

/** Where a program is, in `path` or where systems keep theirs. */
export function findProgram(name: string, path: string | undefined): string | null {
  const directories = [...(path ?? '').split(delimiter), '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return (
    directories
      .filter(Boolean)
      .map((directory) => join(directory, name))
      .find(isProgram) ?? null
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
