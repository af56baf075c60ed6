import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Outcome {
  readonly ok: boolean;
  readonly seconds: number;
  /** stdout and stderr as they came. */
  readonly output: string;
}

/** Runs one of the repository's tools to its end, with everything it printed. */
export function runCommand(command: string, args: readonly string[]): Promise<Outcome> {
  const started = performance.now();
  const path = [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    const finish = (ok: boolean, extra = '') =>
      resolve({
        ok,
        seconds: (performance.now() - started) / 1000,
        output: Buffer.concat(chunks).toString('utf8') + extra,
      });
    child.once('error', (error) => finish(false, error.message));
    child.once('close', (code) => finish(code === 0));
  });
}
