import { spawn } from 'node:child_process';
import type { Failure } from '../runs/state/executor.ts';
import type { ShellExecutor } from '../runs/evidence/checks.ts';
import { killMarked, newMark } from './marked-processes.ts';

/** What is kept of each output stream. */
const MAX_OUTPUT = 64 * 1024;
/** Linux starts no process with a longer variable: 32 pages, name and end included. */
const MAX_VARIABLE_BYTES = 128 * 1024;
const MAX_ENVIRONMENT_BYTES = 1024 * 1024;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** How long the end of a command waits for the rest of its output. */
const REST_MS = 500;

/**
 * Runs `sh -c` as its own process group with `env`, PATH and a mark only. When it ends or the signal fires, the whole group is killed,
 * and what carries the mark.
 */
export const shellExecutor: ShellExecutor = ({ run, env, signal }) =>
  new Promise((resolve) => {
    if (signal.aborted)
      return resolve({ ok: false, type: 'timeout', message: 'stopped before it ran', retryable: false });
    const unfit = unfitEnvironment(env);
    if (unfit !== null) return resolve(failed(unfit));
    const mark = newMark();
    const child = spawn('/bin/sh', ['-c', run], {
      cwd: '/',
      env: { ...env, PATH, ...mark },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = () => killGroup(child.pid);
    signal.addEventListener('abort', kill, { once: true });
    const stdout = capture(child.stdout);
    const stderr = capture(child.stderr);
    child.on('error', (error) => {
      signal.removeEventListener('abort', kill);
      resolve(failed(error.message));
    });
    child.on('exit', () => {
      // What the command left in the background is not part of the check. It may have left the group, and hold the output open.
      killGroup(child.pid);
      void killMarked(mark);
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), REST_MS).unref();
    });
    child.on('close', (exitCode) => {
      signal.removeEventListener('abort', kill);
      if (signal.aborted)
        return resolve({ ok: false, type: 'timeout', message: 'the check was stopped', retryable: false });
      resolve({ ok: true, exitCode, stdout: stdout(), stderr: stderr() });
    });
  });

const failed = (message: string): Failure => ({ ok: false, type: 'shell_failed', message, retryable: false });

/** What an agent said may stand in a variable, so it may be anything. */
function unfitEnvironment(env: Readonly<Record<string, string>>): string | null {
  let total = 0;
  for (const [name, value] of Object.entries(env)) {
    if (value.includes('\0')) return `env.${name} contains a NUL character`;
    const bytes = Buffer.byteLength(`${name}=${value}\0`);
    if (bytes > MAX_VARIABLE_BYTES) return `env.${name} has ${bytes} bytes, at most ${MAX_VARIABLE_BYTES} are possible`;
    total += bytes;
  }
  return total > MAX_ENVIRONMENT_BYTES ? `env has ${total} bytes, at most ${MAX_ENVIRONMENT_BYTES} are possible` : null;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

function capture(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < MAX_OUTPUT) chunks.push(chunk.subarray(0, MAX_OUTPUT - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
