import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { waitFor } from '../support/wait-for.ts';

export interface Program {
  name: string;
  /** Arguments of this process's own Node. */
  args: string[];
  logFile: string;
  env?: Record<string, string>;
  /** How long until it must listen (120,000 ms). */
  listensWithinMs?: number;
}

/** A started process, maybe not listening yet. */
export interface Launched {
  pid: number;
  /** Rejects where the process ends before it listens. */
  listening: Promise<string>;
  stop: () => Promise<void>;
  /** SIGKILL, and wait until it is gone. */
  kill: () => Promise<void>;
}

/**
 * Starts a program that logs JSON lines and says `listening` with its `url`. The log goes to a file, because
 * reading a pipe would cost the bench CPU that it measures.
 */
export function launch({ name, args, logFile, env = {}, listensWithinMs = 120_000 }: Program): Launched {
  const log = openSync(logFile, 'w');
  const assignments = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const child = spawn('env', [...assignments, process.execPath, '--disable-sigusr1', ...args], {
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.removeListener('exit', killWithUs));
  const listening = (async () => {
    const said = await waitFor(() => listeningUrl(logFile) ?? ended(child), {
      what: `${name} to listen`,
      timeoutMs: listensWithinMs,
      everyMs: 2,
    });
    if (said === ENDED)
      throw new Error(`${name} ended before it listened:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
    return said;
  })();
  listening.catch(() => undefined);
  return { pid: child.pid ?? -1, listening, stop: () => end(child, 'SIGTERM'), kill: () => end(child, 'SIGKILL') };
}

/** A process under measurement. */
export interface Measured {
  url: string;
  pid: number;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
}

export async function startMeasured(program: Program): Promise<Measured> {
  const { pid, listening, stop, kill } = launch(program);
  return { url: await listening, pid, stop, kill };
}

const ENDED = 'ended';
const ended = (child: ChildProcess): typeof ENDED | undefined =>
  child.exitCode === null && child.signalCode === null ? undefined : ENDED;

function listeningUrl(logFile: string): string | undefined {
  const line = readFileSync(logFile, 'utf8')
    .split('\n')
    .find((text) => text.includes('"listening"'));
  return line === undefined ? undefined : (JSON.parse(line) as { url: string }).url;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (ended(child)) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  await exit;
  clearTimeout(timer);
}

/** A process that answers each message with one message. */
export interface Worker {
  ask: <T>(message: object) => Promise<T>;
  /** What it said on stdout first, parsed. */
  said: Promise<{ url: string }>;
  stop: () => Promise<void>;
}

export function forkWorker(path: string, args: string[] = []): Worker {
  const child = fork(path, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const exit = once(child, 'exit');
  return {
    said: new Promise((resolve) => child.stdout?.once('data', (data) => resolve(JSON.parse(String(data))))),
    async ask<T>(message: object) {
      const answer = once(child, 'message');
      child.send(message);
      const value = await Promise.race([answer, exit.then(() => undefined)]);
      if (value === undefined) throw new Error(`${path} ended before it answered`);
      const [reply] = value as [{ error?: string }];
      if (reply.error !== undefined) throw new Error(reply.error);
      return reply as T;
    },
    async stop() {
      child.kill();
      await exit;
    },
  };
}
