/** Starts a service of this repository as a separate process, as its users do, and waits until it listens. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export const ROOT = join(import.meta.dirname, '../..');

export type ServiceKind = 'api-server' | 'gateway';

/** One line of a service's log; `raw` is what it printed. */
export interface LogLine {
  readonly raw: string;
  readonly msg?: string;
  readonly url?: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Service {
  /** Base address without a trailing slash, from the service's `listening` line. */
  readonly url: string;
  readonly pid: number;
  /** The last 5,000 lines of stdout and stderr. */
  readonly logs: readonly LogLine[];
  /** Settles when the process is gone. */
  readonly exited: Promise<Exit>;
  /** SIGTERM, then SIGKILL after `graceMs` (60,000). */
  stop(graceMs?: number): Promise<Exit>;
  /** SIGKILL at once. */
  kill(): Promise<Exit>;
}

export interface StartOptions {
  /** Added to this process's environment; undefined removes a variable. */
  readonly env?: Record<string, string | undefined>;
  /** How long until `listening` must have been logged (120,000 ms). */
  readonly timeoutMs?: number;
  /** Called with every line. */
  readonly onLine?: (line: LogLine) => void;
  readonly cwd?: string;
  /** Flags for Node itself, before the program. */
  readonly nodeFlags?: readonly string[];
}

const KEPT_LINES = 5000;

/** It has a home that goes with it, since a gateway keeps what it has for tool servers there. */
export function startService(kind: ServiceKind, configPath: string, options: StartOptions = {}): Promise<Service> {
  const args = [
    '--disable-sigusr1',
    ...(options.nodeFlags ?? []),
    join(ROOT, kind, 'start.mjs'),
    '--config',
    configPath,
  ];
  const home = mkdtempSync(join(tmpdir(), 'signalbox-home-'));
  const env = { HOME: home, ...options.env };
  const started = startProcess(kind, { command: process.execPath, args }, { ...options, env });
  const ended = started.then(
    ({ exited }) => exited,
    () => null,
  );
  void ended.then(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  return started;
}

/** As `startService` for any program that logs JSON lines and says `listening` with its `url`. */
export async function startProcess(
  name: string,
  { command, args }: { command: string; args: readonly string[] },
  options: StartOptions = {},
): Promise<Service> {
  const child = spawn(command, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, PATH: pathWithThisNode(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logs: LogLine[] = [];
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => logs.push({ raw: error.message }));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  void exited.then(() => process.removeListener('exit', killWithUs));

  const signal = async (which: NodeJS.Signals) => {
    child.kill(which);
    return exited;
  };
  try {
    const url = await listening(name, child, { exited, logs, options });
    return {
      url,
      pid: child.pid ?? -1,
      logs,
      exited,
      kill: () => signal('SIGKILL'),
      stop: async (graceMs = 60_000) => {
        const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
        return signal('SIGTERM').finally(() => clearTimeout(timer));
      },
    };
  } catch (error) {
    await signal('SIGKILL');
    throw error;
  }
}

/** A service starts tool servers with `node`, which must be this one and not an older one of the machine. */
const pathWithThisNode = () => [dirname(process.execPath), process.env.PATH].join(delimiter);

interface Watch {
  readonly exited: Promise<Exit>;
  readonly logs: LogLine[];
  readonly options: StartOptions;
}

function listening(name: string, child: ChildProcess, { exited, logs, options }: Watch): Promise<string> {
  const timeoutMs = options.timeoutMs ?? 120_000;
  const tail = () =>
    logs
      .slice(-20)
      .map(({ raw }) => raw)
      .join('\n');
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${name} ${why}\n${tail()}`));
    const timer = setTimeout(() => fail(`did not listen within ${timeoutMs} ms`), timeoutMs);
    void exited.then(({ code, signal }) => {
      clearTimeout(timer);
      fail(`ended with ${signal ?? `code ${code}`}`);
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (raw) => {
        const line = parseLine(raw);
        logs.push(line);
        if (logs.length > KEPT_LINES) logs.shift();
        options.onLine?.(line);
        if (line.msg !== 'listening' || typeof line.url !== 'string') return;
        clearTimeout(timer);
        resolve(line.url.replace(/\/$/, ''));
      });
    }
  });
}

function parseLine(raw: string): LogLine {
  if (!raw.startsWith('{')) return { raw };
  try {
    return { ...(JSON.parse(raw) as object), raw };
  } catch {
    return { raw };
  }
}
