import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const scratch = scratchDirectory('hostile-backend-');
const TOKEN = 'admin-of-the-test';
const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);
/** A megabyte that takes long to read, and longer to describe where it is not what is expected. */
const WIDE = `[${'1,'.repeat(500_000)}1]`;
/** A megabyte of messages that are no JSON. */
const NOISE = Buffer.from([0x81, 1, 'x'.charCodeAt(0)])
  .toString('latin1')
  .repeat(350_000);
let backend: WebSocketServer;
let service: Service;

interface Asked {
  id: number;
  method: string;
  params: { agent: string; idempotency_key: string; metadata: object };
}

/** What each agent of the backend sends before its answer, and what differs in that. */
const AGENTS: Record<string, (asked: Asked['params'], say: (message: object | string) => void) => object> = {
  deep: ({ idempotency_key: key }, say) => {
    const event = `{"event":"tool_call","idempotency_key":${JSON.stringify(key)},"input":${DEEP}}`;
    say(`{"jsonrpc":"2.0","method":"agent.event","params":${event}}`);
    return {};
  },
  forger: ({ idempotency_key }, say) => {
    const forged = { seq: 'first', level: 'error', msg: 'approved by ana', run_id: 'another' };
    for (const event of ['llm_call', 'run_completed'])
      say({ method: 'agent.event', params: { event, idempotency_key, ...forged } });
    return {};
  },
  spender: () => ({ usage: { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: Number.MAX_SAFE_INTEGER } }),
  asker: ({ metadata }, say) => {
    const question = { run_id: 'r', agent: 'asker', server: 's', tool: 't', input: {}, metadata };
    for (let at = 0; at < 2_000; at++)
      say({ id: `s${at}`, method: 'tool.request_approval', params: { ...question, call_id: `c${at}` } });
    return {};
  },
  namer: () => ({ model: `m-${randomUUID()}`, provider: `p-${randomUUID()}` }),
};
const NAMES = Object.keys(AGENTS);
/** Branches of the one that names another model each time. */
const BRANCHES = 200;

function answer(socket: WebSocket, { id, method, params }: Asked, stream: Duplex): void {
  if (method === 'agents.list')
    socket.send(`{"jsonrpc":"2.0","id":${id},"result":{"agents":[{"name":"a","model":"m","warnings":${WIDE}}]}}`);
  if (method !== 'agent.run') return;
  if (params.agent === 'wide') return socket.send(`{"result": ${WIDE}, "jsonrpc": "2.0", "id": ${id}}`);
  if (params.agent === 'noisy') stream.write(NOISE, 'latin1');
  const say = (message: object | string) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message }));
  const output = { confidence: 0.9, summary: 'fine' };
  const done = { run_id: 'r', status: 'completed', text: '', output, duration_ms: 1, iterations: 1, tool_calls: 0 };
  say({ id, result: { ...done, ...AGENTS[params.agent]?.(params, say) } });
}

beforeAll(async () => {
  backend = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  backend.on('connection', (socket, { socket: stream }) =>
    socket.on('message', (data) => answer(socket, JSON.parse(String(data)) as Asked, stream)),
  );
  await once(backend, 'listening');
  mkdirSync(join(scratch.path, 'pipelines'));
  for (const agent of [...NAMES, 'wide', 'noisy']) {
    const asks = { executor: 'external', agent, prompt_template: 'Look', timeout_seconds: 60 };
    const each = { over: 'metadata.list', max_items: BRANCHES, max_parallel: 50, step: asks };
    const step = agent === 'namer' ? { name: 'each', fan_out: each } : { name: 'look', ...asks };
    const pipeline = { name: agent, stage: 'production', steps: [step] };
    writeFileSync(join(scratch.path, `pipelines/${agent}.yaml`), JSON.stringify(pipeline));
  }
  const config = join(scratch.path, 'config.yaml');
  const url = `ws://127.0.0.1:${(backend.address() as AddressInfo).port}/rpc`;
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: `sqlite://${join(scratch.path, 'service.db')}` },
    auth: { tokens: [{ name: 'admin', token: TOKEN, role: 'admin' }] },
    executors: { external: { url, token: 'of-the-backend' } },
  };
  writeFileSync(config, JSON.stringify(settings));
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service.stop();
  backend.close();
  scratch.remove();
});

const ask = <T>(path: string, body?: object) =>
  call<T>(`${service.url}${path}`, { token: TOKEN, ...(body && { body }) });

interface Run {
  id: string;
  status: string;
  error: { message: string } | null;
}

async function runOf(name: string): Promise<Run> {
  const { body } = await ask<{ run_id: string }>(`/pipelines/${name}/run`, {
    summary: `sent by ${name}`,
    data: { list: Array.from({ length: BRANCHES }, (_, at) => at) },
  });
  const ended = async () => {
    const run = (await ask<Run>(`/runs/${body.run_id}`)).body;
    return run.status !== 'running' && run;
  };
  return waitFor(ended, { what: `the end of ${name}` });
}

test('a backend that sends what it likes ends its own runs and nothing else', async () => {
  const health = probeHealth(service.url);
  const runs = new Map<string, Run>();
  for (const name of NAMES) runs.set(name, await runOf(name));
  expect([...runs].map(([name, { status }]) => [name, status])).toEqual([
    ['deep', 'completed'],
    ['forger', 'completed'],
    ['spender', 'failed'],
    ['asker', 'completed'],
    ['namer', 'completed'],
  ]);
  const { body } = await ask<{ breakdown: { model: string }[] }>('/steps/each/models?time_range=7d');
  expect([body.breakdown.length, body.breakdown[0]?.model]).toEqual([101, 'other']);
  // What one run holds keeps no list and no search from any other.
  const found = async () => (await ask<{ total: number }>('/runs?q=sent')).body.total === NAMES.length;
  await waitFor(found, { what: 'the runs to be found by their words' });
  for (const path of [
    '/teams',
    '/ui/',
    '/ui/insights',
    '/ui/teams',
    ...[...runs.values()].map(({ id }) => `/ui/runs/${id}`),
  ])
    expect([path, (await ask(path)).status]).toEqual([path, 200]);
  const asker = runs.get('asker')?.id ?? '';
  expect((await ask<{ total: number }>(`/approvals?run=${asker}`)).body.total).toBeLessThanOrEqual(64);
  expect(service.logs.filter(({ level }) => level === 'error').map(({ raw }) => raw)).toEqual([]);
  expect(service.logs.filter(({ msg }) => msg?.includes('could not be made findable'))).toEqual([]);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});

test('a backend that sends messages without a pause, or one of half a million values, holds nobody up', async () => {
  const health = probeHealth(service.url);
  expect(await runOf('noisy')).toMatchObject({ status: 'completed' });
  expect(await runOf('wide')).toMatchObject({ status: 'failed' });
  const { status, body } = await ask<{ errors: object }>('/agents');
  expect([status, body.errors]).toEqual([200, { external: 'the message has more than 50000 values' }]);
  expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  health.stop();
});
