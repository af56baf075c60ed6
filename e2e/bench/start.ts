import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildBundle } from '../support/bundled.ts';
import { freePort } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Benchmark, median } from './benchmark.ts';
import { HttpConnection } from './http-connection.ts';
import { requestBody } from './load.ts';
import { WEBHOOK_TOKEN, writeApiServerConfig } from './services.ts';

const ROUNDS = 5;

interface Way {
  command: string;
  args: readonly string[];
  /** Of its compile cache; the one beside the sources where it is absent. */
  cache?: string;
}

/** How the service is started: as documented, without npm, as the first time on a machine, and as the image does. */
const waysIn = (directory: string, dist: string) =>
  ({
    npm: { command: 'npm', args: ['run', '--silent', 'api-server', '--'] },
    node: { command: process.execPath, args: ['--disable-sigusr1', join(ROOT, 'api-server', 'start.mjs')] },
    uncached: {
      command: 'npm',
      args: ['run', '--silent', 'api-server', '--'],
      cache: join(directory, 'compile-cache'),
    },
    image: { command: join(dist, 'signalbox'), args: ['api-server'], cache: join(dist, 'compile-cache') },
  }) satisfies Record<string, Way>;

/** From the command line to the first 202, each time with a new database. */
export const start: Benchmark = {
  name: 'start',
  about: "time from npm run, and from the start of the image's bundle, to the first accepted webhook",
  async run({ directory, gateway, progress }) {
    const dist = buildBundle(join(directory, 'dist'));
    const ways = waysIn(directory, dist);
    const seconds = { npm: [], node: [], uncached: [], image: [] } as Record<keyof typeof ways, number[]>;
    for (let round = 0; round < ROUNDS; round++) {
      for (const way of ['npm', 'node', 'uncached', 'image'] as const) {
        const place = join(directory, `${way}-${round}`);
        mkdirSync(place, { recursive: true });
        if (way === 'uncached') rmSync(ways.uncached.cache, { recursive: true, force: true });
        const took = await firstWebhook(ways[way], place, gateway.url);
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
      {
        what: "start to first accepted webhook (the image's bundle)",
        value: median(seconds.image),
        unit: 's',
        limit: { direction: 'most', bound: 0.8, aim: 0.45 },
      },
    ];
  },
};

async function firstWebhook({ command, args, cache }: Way, directory: string, gatewayUrl: string): Promise<number> {
  const port = await freePort();
  const config = writeApiServerConfig(directory, gatewayUrl, port);
  const begun = performance.now();
  const child = spawn(command, [...args, '--config', config], {
    cwd: ROOT,
    env: { ...process.env, ...(cache && { NODE_COMPILE_CACHE: cache }) },
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
