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

const STARTS = 5;

/** From the command line to the first 202, sources as they are, an empty database at the first start. */
export const start: Benchmark = {
  name: 'start',
  about: 'start to the first accepted webhook, of the sources as run by npm',
  async run({ directory, gateway, progress }) {
    const seconds: Record<'npm' | 'node', number[]> = { npm: [], node: [] };
    for (let round = 0; round < STARTS; round++) {
      for (const how of ['npm', 'node'] as const) {
        const place = join(directory, `${how}-${round}`);
        mkdirSync(place, { recursive: true });
        const took = await firstWebhook(how, place, gateway.url);
        seconds[how].push(took);
        progress(`${how} ${took.toFixed(2)} s`);
      }
    }
    return [
      {
        what: 'start to first accepted webhook (npm run)',
        value: median(seconds.npm),
        unit: 's',
        limit: { direction: 'most', bound: 1, aim: 0.6 },
        detail: `${median(seconds.node).toFixed(2)} s of it without npm`,
      },
    ];
  },
};

async function firstWebhook(how: 'npm' | 'node', directory: string, gatewayUrl: string): Promise<number> {
  const port = await freePort();
  const config = writeApiServerConfig(directory, gatewayUrl, port);
  const [command, args] =
    how === 'npm'
      ? ['npm', ['run', '--silent', 'api-server', '--', '--config', config]]
      : [process.execPath, [join(ROOT, 'api-server', 'start.mjs'), '--config', config]];
  const begun = performance.now();
  const child = spawn(command, args, { cwd: ROOT, stdio: 'ignore', detached: true });
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
