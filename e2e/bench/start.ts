import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Benchmark, median } from './benchmark.ts';
import { HttpConnection } from './http-connection.ts';
import { requestBody } from './load.ts';
import { WEBHOOK_TOKEN, writeApiServerConfig } from './services.ts';

const ROUNDS = 5;

/** How the service is started: as documented, without npm, and as the first time on a machine. */
const WAYS = {
  npm: { command: 'npm', args: ['run', '--silent', 'api-server', '--'], env: {} },
  node: { command: process.execPath, args: [join(ROOT, 'api-server', 'start.mjs')], env: {} },
  uncached: {
    command: 'npm',
    args: ['run', '--silent', 'api-server', '--'],
    env: { NODE_COMPILE_CACHE: 'compile-cache' },
  },
} as const;
type Way = keyof typeof WAYS;

/** From the command line to the first 202: the sources as they are, each time with a new database. */
export const start: Benchmark = {
  name: 'start',
  about: 'time from npm run to the first accepted webhook',
  async run({ directory, gateway, progress }) {
    const seconds: Record<Way, number[]> = { npm: [], node: [], uncached: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const way of ['npm', 'node', 'uncached'] as const) {
        const place = join(directory, `${way}-${round}`);
        mkdirSync(place, { recursive: true });
        const took = await firstWebhook(way, place, gateway.url);
        seconds[way].push(took);
        progress(`${way} ${took.toFixed(2)} s`);
      }
    }
    const [npm, node, uncached] = [median(seconds.npm), median(seconds.node), median(seconds.uncached)];
    return [
      {
        what: 'start to first accepted webhook (npm run)',
        value: npm,
        unit: 's',
        limit: { direction: 'most', bound: 1, aim: 0.6 },
        detail: `${node.toFixed(2)} s without npm, ${uncached.toFixed(2)} s with an empty compile cache`,
      },
    ];
  },
};

async function firstWebhook(way: Way, directory: string, gatewayUrl: string): Promise<number> {
  const port = await freePort();
  const config = writeApiServerConfig(directory, gatewayUrl, port);
  const { command, args, env } = WAYS[way];
  const places = Object.entries(env).map(([name, folder]) => `${name}=${join(directory, folder)}`);
  const begun = performance.now();
  const child = spawn('env', [...places, command, ...args, '--config', config], {
    cwd: ROOT,
    stdio: 'ignore',
    detached: true,
  });
  const exit = once(child, 'exit');
  try {
    await waitFor(() => accepted(port), { what: 'the first accepted webhook', timeoutMs: 20_000, everyMs: 5 });
    return (performance.now() - begun) / 1000;
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await exit;
  }
}

async function accepted(port: number): Promise<boolean> {
  const connection = await HttpConnection.open(`http://127.0.0.1:${port}/webhook?source=generic`, WEBHOOK_TOKEN);
  try {
    return (await connection.post(requestBody('first'))).status === 202;
  } finally {
    connection.close();
  }
}
