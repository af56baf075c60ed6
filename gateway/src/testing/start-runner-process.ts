import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from './until.ts';

const START = join(import.meta.dirname, '../../runner.mjs');

export interface RunnerProcess {
  /** `host:port`. */
  address: string;
  child: ChildProcess;
  output: () => string;
  stop: () => Promise<void>;
}

/** An agent runner as a process of its own, with nothing in its environment but what is given. */
export async function startRunnerProcess(env: Record<string, string>): Promise<RunnerProcess> {
  const child = spawn(process.execPath, [START], { env: { RUNNER_HOST: '127.0.0.1', RUNNER_PORT: '0', ...env } });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  let isOver = false;
  // Not with `exit`: its last words may still be on their way then.
  child.once('close', () => (isOver = true));
  const line = await until(() => {
    if (isOver) throw new Error(`the runner ended: ${output}`);
    return output.split('\n').find((text) => text.includes('"listening"'));
  });
  const { url } = JSON.parse(line) as { url: string };
  return {
    address: url.replace('http://', ''),
    child,
    output: () => output,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
