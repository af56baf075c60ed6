import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

/** As many as have room in the memory of one run; a view of 64 whole ones ended the service. */
const QUESTIONS = 8;
/** 42 KB, of which indentation would make 2.5 MB. */
const DEEP = `${'['.repeat(58)}${'1,'.repeat(20_999)}1${']'.repeat(58)}`;
const TOKEN = 'admin-of-the-test';
const scratch = scratchDirectory('deep-questions-');
let backend: WebSocketServer;
let service: Service;
let run: string;

interface Asked {
  id: number;
  method: string;
  params: { metadata: object };
}

function answer(say: (message: string) => void, { id, method, params }: Asked): void {
  if (method === 'agents.list') say(`{"jsonrpc":"2.0","id":${id},"result":{"agents":[{"name":"asker","model":"m"}]}}`);
  if (method !== 'agent.run') return;
  const asks = { run_id: 'r', agent: 'asker', server: 's', tool: 't', metadata: params.metadata };
  for (let at = 0; at < QUESTIONS; at++) {
    const fields = JSON.stringify({ ...asks, call_id: `c${at}` }).slice(1);
    say(
      `{"jsonrpc":"2.0","id":"s${at}","method":"tool.request_approval","params":{"input":{"at":${at},"deep":${DEEP}},${fields}}`,
    );
  }
}

beforeAll(async () => {
  backend = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  backend.on('connection', (socket) =>
    socket.on('message', (data) => answer((text) => socket.send(text), JSON.parse(String(data)) as Asked)),
  );
  await once(backend, 'listening');
  mkdirSync(join(scratch.path, 'pipelines'));
  const step = { name: 'look', executor: 'external', agent: 'asker', prompt_template: 'Look', timeout_seconds: 600 };
  const pipeline = { name: 'asks', stage: 'production', steps: [step] };
  writeFileSync(join(scratch.path, 'pipelines/asks.yaml'), JSON.stringify(pipeline));
  const config = join(scratch.path, 'config.yaml');
  const url = `ws://127.0.0.1:${(backend.address() as AddressInfo).port}/rpc`;
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: `sqlite://${join(scratch.path, 'runs.db')}` },
    auth: { tokens: [{ name: 'admin', token: TOKEN, role: 'admin' }] },
    executors: { external: { url, token: 't' } },
  };
  writeFileSync(config, JSON.stringify(settings));
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=512'] });
  const started = await call<{ run_id: string }>(`${service.url}/pipelines/asks/run`, { token: TOKEN, body: {} });
  run = started.body.run_id;
  const pending = () => call<{ total: number }>(`${service.url}/approvals?status=pending&limit=1`, { token: TOKEN });
  await waitFor(async () => (await pending()).body.total === QUESTIONS, { what: 'all questions', timeoutMs: 30_000 });
}, 60_000);
afterAll(async () => {
  await service?.stop(1000);
  backend.close();
  scratch.remove();
});

test.each(['/ui/approvals', '/ui/runs/RUN?step=look', '/ui/runs/RUN?step=look&tab=tools'])(
  'deep inputs of many questions neither end nor hold up who shows %s',
  { timeout: 60_000 },
  async (page) => {
    const probe = probeHealth(service.url);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${service.url}${page.replace('RUN', run)}`, { headers });
    const text = await answer.text();
    probe.stop();
    expect(answer.status).toBe(200);
    expect(text.length).toBeLessThan(500_000);
    expect(text).toContain('href="/ui/approvals/');
    expect(probe.slowest()).toBeLessThan(MAX_HEALTH_MS);
  },
);
