import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { loadConfig } from '../config/load.ts';
import { createPipelineEnv } from '../config/pipeline-env.ts';
import { type FakeChat, fakeReceiver } from '../notify/fixtures/chats.ts';
import { createLogs } from '../observability/logger.ts';
import { readFailpoints } from './failpoints.ts';
import { createService, type Service } from './service.ts';

/** The evening before the first fire. */
const EVENING = Date.parse('2026-11-21T22:00:00Z');
const NIGHT = Date.parse('2026-11-22T02:00:00Z');

const pipeline = (prompt: string) => `
name: checkout
stage: production
steps:
  - {name: look, executor: external, agent: investigator, prompt_template: "${prompt}"}
`;

interface Frame {
  id: number;
  method: string;
  params: { agent: string; input: string };
}

/** Sees the pool as long as the prompt names the service; the judge compares the causes. */
function answerOf({ agent, input }: Frame['params']): object {
  if (agent === 'replay-judge')
    return { verdict: input.includes('the network is slow') ? 'incorrect' : 'correct', reason: 'compared the causes' };
  return { confidence: 0.9, summary: input.includes('of checkout') ? 'the pool is full' : 'the network is slow' };
}

let dir: string;
let backend: Server;
let receiver: FakeChat;
let service: Service;
let address: string;
let output: string;

/** An agent backend of one's own that speaks the agent protocol. */
async function startBackend(): Promise<string> {
  backend = createServer();
  const sockets = new WebSocketServer({ server: backend });
  sockets.on('connection', (socket: WebSocket) =>
    socket.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data)) as Frame;
      const said = method === 'agent.run' ? answerOf(params) : {};
      const result = {
        run_id: 'r',
        status: 'completed',
        text: JSON.stringify(said),
        output: said,
        stop_reason: 'end_turn',
      };
      const counted = { ...result, usage: { input_tokens: 1, output_tokens: 1 }, duration_ms: 1, trace: [] };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'agent.run' ? counted : {} }));
    }),
  );
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  return `ws://127.0.0.1:${(backend.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: EVENING });
  dir = mkdtempSync(join(tmpdir(), 'regressions-'));
  receiver = await fakeReceiver();
  mkdirSync(join(dir, 'pipelines'));
  writeFileSync(join(dir, 'pipelines', 'checkout.yaml'), pipeline('What of {{labels.event}}? {{summary}}'));
  const file = join(dir, 'config.yaml');
  writeFileSync(
    file,
    `server: {host: 127.0.0.1, port: 0, public_url: "https://signalbox.example"}
pipeline_config_dir: pipelines
database: {url: "sqlite:test.db"}
executors: {external: {url: "${await startBackend()}"}}
auth: {tokens: [{name: op, token: op-secret, role: admin}]}
# The clock is moved by hours at once.
schedule: {catch_up_seconds: 3600}
replay:
  safe_agents: ["external:investigator", "external:replay-judge"]
  judge: {executor: external}
  regression:
    - golden_set: triage
      cron: "0 2 * * *"
      notify: {channel: webhook, config: {url: "${receiver.url}/regressions"}}
`,
  );
  const loaded = loadConfig(file, {});
  if (!loaded.ok) throw new Error(loaded.message);
  output = '';
  const out = new Writable({ write: (chunk: Buffer, _, done) => ((output += chunk.toString()), done()) });
  service = await createService({
    config: loaded.config,
    version: 'test',
    logs: createLogs(loaded.config.logging, out),
    failpoints: readFailpoints(undefined),
    pipelineEnv: createPipelineEnv([], {}),
  });
  address = await service.listen();
});
afterEach(async () => {
  vi.useRealTimers();
  await service.close();
  await receiver.close();
  backend.closeAllConnections();
  backend.close();
  rmSync(dir, { recursive: true });
});

// The shapes differ from route to route.
// oxlint-disable-next-line typescript/no-explicit-any
async function send(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization: 'Bearer op-secret', 'content-type': 'application/json' };
  const response = await fetch(`${address}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

/** A run whose answer a person marked as correct, pinned. */
async function pin(set: string, summary: string): Promise<void> {
  const { run_id } = await send('POST', '/pipelines/checkout/run', { summary, event: 'checkout' });
  await expect.poll(async () => (await send('GET', `/runs/${run_id}`)).status).toBe('completed');
  await send('POST', `/runs/${run_id}/steps/look/feedback`, { outcome: 'correct' });
  await send('POST', `/golden-sets/${set}/members`, { run_id, step_name: 'look' });
}

test('a prompt that a reload changed for the worse is caught by the schedule, and the receiver gets the alert', async () => {
  expect(output).toContain('there is no golden set of this name');
  const { id: set } = await send('POST', '/golden-sets', { name: 'triage', step_name: 'look' });
  await pin(set, 'the checkout is slow');
  await pin(set, 'the cart is slow');
  const last = async () => (await send('GET', `/golden-sets/${set}/regressions`)).regressions[0];

  expect((await send('GET', `/golden-sets/${set}/regressions`)).schedule.next_at).toBe('2026-11-22T02:00:00.000Z');
  vi.setSystemTime(NIGHT + 10_000);
  await expect.poll(async () => (await last())?.status, { timeout: 60_000 }).toBe('completed');
  expect(await last()).toMatchObject({ n_regressed: 0, fresh_accuracy: 1, alert: null });
  expect(receiver.received).toEqual([]);

  writeFileSync(join(dir, 'pipelines', 'checkout.yaml'), pipeline('What happened? {{summary}}'));
  await send('POST', '/reload', {});
  expect(output).toContain('"scheduled replay registered"');
  vi.setSystemTime(NIGHT + 86_400_000 + 10_000);
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(1);
  const report = await last();
  expect(report).toMatchObject({ fire_at: '2026-11-23T02:00:00.000Z', status: 'completed', n_regressed: 2 });
  expect(receiver.received[0]?.body).toMatchObject({
    event: 'regression',
    regression: {
      golden_set: 'triage',
      n_regressed: 2,
      n_members: 2,
      fresh_accuracy: 0,
      report_url: `https://signalbox.example/ui/regressions/${report.id}`,
    },
  });
});
