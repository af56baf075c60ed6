import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { forkWorker, type Measured, startMeasured, type Worker } from './process.ts';

export const WEBHOOK_TOKEN = 'bench-webhook-000000000000000000000000';
export const VIEWER_TOKEN = 'bench-viewer-0000000000000000000000000';
export const OPERATOR_TOKEN = 'bench-operator-00000000000000000000000';
export const GATEWAY_TOKEN = 'bench-gateway-000000000000000000000000';
export const MAX_RUNS = 1000;

/** The target of the load: the service, or the bare server that it is compared with. */
export interface Target {
  name: string;
  process: Measured;
  databaseFile: string;
}

/** The configuration of a service under load: one production pipeline of one step, dedup on, embedded database. */
export function writeApiServerConfig(directory: string, gatewayUrl: string, port = 0): string {
  mkdirSync(join(directory, 'pipelines'), { recursive: true });
  const pipeline = {
    name: 'bench',
    stage: 'production',
    trigger: { dedup: { enabled: true, window_seconds: 3600 } },
    steps: [
      {
        name: 'investigate',
        executor: 'gateway',
        agent: 'bench',
        prompt_template: 'Alert: {{summary}} on {{service}}',
      },
    ],
  };
  writeFileSync(join(directory, 'pipelines', 'bench.yaml'), JSON.stringify(pipeline, null, 2));
  const config = {
    server: { host: '127.0.0.1', port },
    pipeline_config_dir: 'pipelines',
    database: { url: `sqlite:///${join(directory, 'service.db')}` },
    executors: { gateway: { url: gatewayUrl, token: GATEWAY_TOKEN } },
    concurrency: { max_runs: MAX_RUNS },
    replay: { safe_agents: ['gateway:bench'] },
    auth: {
      tokens: [
        { name: 'bench', token: WEBHOOK_TOKEN, role: 'webhook' },
        { name: 'reader', token: VIEWER_TOKEN, role: 'viewer' },
        { name: 'operator', token: OPERATOR_TOKEN, role: 'operator' },
      ],
    },
  };
  const path = join(directory, 'config.yaml');
  writeFileSync(path, JSON.stringify(config, null, 2));
  return path;
}

export type StartTarget = typeof startApiServer;

export async function startApiServer(
  directory: string,
  gatewayUrl: string,
  env: Record<string, string> = {},
  root = ROOT,
): Promise<Target> {
  mkdirSync(directory, { recursive: true });
  const args = [join(root, 'api-server', 'start.mjs'), '--config', writeApiServerConfig(directory, gatewayUrl)];
  const process = await startMeasured({ name: 'api-server', args, env, logFile: join(directory, 'service.log') });
  return { name: 'api-server', process, databaseFile: join(directory, 'service.db') };
}

/** Without a gateway it takes in and stores, nothing else. */
export async function startBareServer(
  directory: string,
  gatewayUrl?: string,
  env: Record<string, string> = {},
): Promise<Target> {
  mkdirSync(directory, { recursive: true });
  const databaseFile = join(directory, 'bare.db');
  const gateway = gatewayUrl === undefined ? [] : ['--gateway', gatewayUrl, '--gateway-token', GATEWAY_TOKEN];
  const args = [
    join(import.meta.dirname, 'bare-server.ts'),
    `--database=${databaseFile}`,
    `--token=${WEBHOOK_TOKEN}`,
    `--max-runs=${MAX_RUNS}`,
    ...gateway,
  ];
  const process = await startMeasured({ name: 'bare server', args, env, logFile: join(directory, 'bare.log') });
  return { name: 'bare', process, databaseFile };
}

export interface GatewayProcess {
  url: string;
  hold: (on: boolean) => Promise<void>;
  stop: () => Promise<void>;
}

export async function startGatewayProcess(): Promise<GatewayProcess> {
  const worker = forkWorker(join(import.meta.dirname, 'fake-gateway.ts'), ['--token', GATEWAY_TOKEN]);
  const { url } = await worker.said;
  return {
    url: `${url.replace('http', 'ws')}/rpc`,
    hold: async (on) => void (await worker.ask({ hold: on })),
    stop: () => worker.stop(),
  };
}

export interface LoadGenerator {
  run: (
    target: { process: Pick<Measured, 'url'> },
    load: Pick<LoadJob, 'connections' | 'amount' | 'perSecond'>,
  ) => Promise<LoadResult>;
  stop: () => Promise<void>;
}

/** One process for all rounds, so that it is warm in each. */
export function startLoadGenerator(): LoadGenerator {
  const worker: Worker = forkWorker(join(import.meta.dirname, 'load.ts'));
  let round = 0;
  return {
    async run(target, load) {
      const url = `${target.process.url}/webhook?source=generic`;
      const job: LoadJob = { url, token: WEBHOOK_TOKEN, round: `round-${++round}`, ...load };
      return (await worker.ask<{ result: LoadResult }>(job)).result;
    },
    stop: () => worker.stop(),
  };
}

/** Waits until no run executes; the answer is how many milliseconds that took. */
export async function drained(target: Target): Promise<number> {
  const start = performance.now();
  const probe = async (): Promise<boolean> => {
    const response = await fetch(`${target.process.url}/health`);
    return ((await response.json()) as { active_runs: number }).active_runs === 0;
  };
  await waitFor(probe, { what: `${target.name} to finish its runs`, timeoutMs: 240_000, everyMs: 5 });
  return performance.now() - start;
}

/** Read from the database file, beside the running service. */
export function completedRuns({ databaseFile }: Target): number {
  const db = new DatabaseSync(databaseFile, { readOnly: true });
  try {
    return Number(db.prepare(`SELECT count(*) AS n FROM runs WHERE status = 'completed'`).get()?.['n']);
  } finally {
    db.close();
  }
}

export function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/**
 * CPU time of the process's threads so far, in milliseconds, as the scheduler counted it. The clock ticks of `/proc/PID/stat`
 * are samples, which charge a whole tick to whatever a timer wakes just then.
 */
export function cpuMilliseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`);
  const nanoseconds = threads.map((file) => Number(readFileSync(file, 'utf8').split(' ')[0]));
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}
