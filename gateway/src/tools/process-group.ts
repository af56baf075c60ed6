import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { isGroupAlive } from './process-table.ts';
import type { Readable, Writable } from 'node:stream';

export interface ProcessSpec {
  command: string;
  args: readonly string[];
  /** The whole environment of the process. */
  env: Record<string, string>;
  /** The secrets in it. */
  secrets: readonly string[];
  cwd: string | undefined;
  /** Resident memory of it and all that it starts, beyond which it is ended. */
  memoryLimitBytes: number;
  /** The user to start it as; without one, the gateway's own. */
  account?: { uid: number; gid: number } | undefined;
}
export type GroupLeader = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a process as the leader of its own group, so that what it starts can be ended with it. */
export function startGroup(spec: ProcessSpec): GroupLeader {
  const leader = spawn(spec.command, [...spec.args], {
    env: spec.env,
    cwd: spec.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    shell: false,
    ...(spec.account ? { uid: spec.account.uid, gid: spec.account.gid } : {}),
  });
  if (leader.pid !== undefined) endFirst(leader.pid);
  return leader;
}

/** Has the kernel end the process, and what it starts, before others where memory is short. */
function endFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Another system, or a process that has ended.
  }
}

/** Signals every process of the group; false when none is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

const POLL_MS = 25;

/** Ends the group: SIGTERM, `graceMs` to comply, SIGKILL. Resolves when no process of it is left (or cannot be ended). */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return;
  if (await groupGone(pid, graceMs)) return;
  signalGroup(pid, 'SIGKILL');
  await groupGone(pid, 2000);
}

async function groupGone(pid: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() <= until) {
    if (!signalGroup(pid, 0) || !(await isGroupAlive(pid))) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}
