import { spawn } from 'node:child_process';
import { ROOT } from '../support/start-service.ts';

export interface RunOptions {
  readonly input?: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** SIGTERM after this long (600,000 ms). */
  readonly timeoutMs?: number;
}

const TAIL = 4000;

/** Runs a program to its end and answers stdout; rejects with the end of what it said. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { input, env, cwd = ROOT, timeoutMs = 600_000 } = options;
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, timeout: timeoutMs });
  const stdout: Buffer[] = [];
  const both: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void (stdout.push(chunk), both.push(chunk)));
  child.stderr.on('data', (chunk: Buffer) => void both.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const line = [command, ...args].join(' ').slice(0, 200);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${line}: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(Buffer.concat(stdout).toString('utf8'));
      const said = Buffer.concat(both).toString('utf8').trim().slice(-TAIL);
      reject(new Error(`${line} ended with ${signal ?? `code ${code}`}\n${said}`));
    });
  });
}
