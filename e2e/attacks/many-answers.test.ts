import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const TOKEN = 'admin-of-the-test';
/** A quarter of a megabyte that takes twenty times as much once it is read. */
const WIDE = Buffer.from(`[${'{},'.repeat(87_379)}{}]`);

/** All but the last byte; that comes to all in one moment, once no more ask. */
let held: ServerResponse[] = [];
let quiet: NodeJS.Timeout | undefined;
const release = () => {
  const all = held;
  held = [];
  for (const response of all) response.end(WIDE.subarray(-1));
};
const target = createServer((_, response) => {
  response.setHeader('content-type', 'application/json').write(WIDE.subarray(0, -1));
  held.push(response);
  clearTimeout(quiet);
  quiet = setTimeout(release, 400);
});
let backend: WebSocketServer;

const scratch = scratchDirectory('many-answers-');
let service: Service;

function pipelines(url: string) {
  const each = (width: number, step: object) => {
    const over = JSON.stringify(Array.from({ length: width }, (_, at) => at));
    return [{ name: 'each', fan_out: { over, max_items: width, max_parallel: width, step } }];
  };
  const check = { type: 'webhook', url, timeout_seconds: 600, expect: 'size(response.body) > 0' };
  const deterministic_checks = Array.from({ length: 16 }, (_, at) => ({ ...check, name: `check-${at}` }));
  return {
    checks: each(6, { executor: 'external', agent: 'a', prompt_template: 'Look', deterministic_checks }),
    webhooks: each(2, { executor: 'pipeline', pipeline: 'posts' }),
    posts: each(50, { executor: 'webhook', url, timeout_seconds: 60 }),
  };
}

beforeAll(async () => {
  backend = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  backend.on('connection', (socket) =>
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string };
      if (method !== 'agent.run') return;
      const output = { confidence: 0.9, summary: 'fine' };
      const done = { run_id: 'r', status: 'completed', text: '', output, duration_ms: 1, iterations: 1, tool_calls: 0 };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: done }));
    }),
  );
  await Promise.all([once(backend, 'listening'), once(target.listen(0, '127.0.0.1'), 'listening')]);
  const address = (server: { address(): unknown }) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  mkdirSync(join(scratch.path, 'pipelines'));
  for (const [name, steps] of Object.entries(pipelines(`http://${address(target)}/`))) {
    const pipeline = { name, stage: 'production', steps };
    writeFileSync(join(scratch.path, `pipelines/${name}.yaml`), JSON.stringify(pipeline));
  }
  const config = join(scratch.path, 'config.json');
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: `sqlite://${join(scratch.path, 'service.db')}` },
    security: { egress_allow: ['127.0.0.1/32'] },
    auth: { tokens: [{ name: 'admin', token: TOKEN, role: 'admin' }] },
    executors: { external: { url: `ws://${address(backend)}/rpc`, token: 'of-the-backend' } },
  };
  writeFileSync(config, JSON.stringify(settings));
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=512'] });
});
afterAll(async () => {
  await service?.stop(1_000);
  target.closeAllConnections();
  target.close();
  backend.close();
  scratch.remove();
});

const ask = <T>(path: string, body?: object) =>
  call<T>(`${service.url}${path}`, { token: TOKEN, ...(body && { body }) });

test.each(['checks', 'webhooks'])('long answers of %s that come in one moment hold up nobody', async (pipeline) => {
  const health = probeHealth(service.url);
  const started = await ask<{ run_id: string }>(`/pipelines/${pipeline}/run`, { summary: 'many', data: {} });
  const ended = async () => {
    const { body } = await ask<{ status: string }>(`/runs/${started.body.run_id}`);
    return body.status !== 'running' && body;
  };
  expect(await waitFor(ended, { what: 'the end of the run', timeoutMs: 60_000 })).toMatchObject({
    status: 'escalated',
  });
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});
