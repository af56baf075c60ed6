import { join } from 'node:path';
import { AgentRunResult, decodeFrame, ServerInfo } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { scratchDirectory, type Scratch } from '../support/scratch.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';
import { runLoad } from './load.ts';
import { completedRuns, drained, GATEWAY_TOKEN, startBareServer, type Target, WEBHOOK_TOKEN } from './services.ts';

let scratch: Scratch;
let gateway: FakeGateway;
let bare: Target;

beforeEach(async () => {
  scratch = scratchDirectory();
  gateway = await startFakeGateway({ token: GATEWAY_TOKEN });
  bare = await startBareServer(join(scratch.path, 'bare'), gateway.url);
});
afterEach(async () => {
  await bare.process.stop();
  await gateway.close();
  scratch.remove();
});

const webhook = (key: string, token = WEBHOOK_TOKEN) =>
  call<{ status: string; run_id: string }>(`${bare.process.url}/webhook`, {
    token,
    body: { pipeline: 'bench', idempotency_key: key },
  });

test('the bare server keeps the promise that the service is measured by', async () => {
  expect((await webhook('a', 'wrong')).status).toBe(401);
  const first = await webhook('a');
  expect(first).toMatchObject({ status: 202, body: { status: 'accepted' } });
  expect((await webhook('a')).body).toEqual({ status: 'deduplicated', run_id: first.body.run_id });
  await drained(bare);
  expect(completedRuns(bare)).toBe(1);
});

test('the load generator sends every key over every connection and counts the answers', async () => {
  const url = `${bare.process.url}/webhook?source=generic`;
  const result = await runLoad({ url, token: WEBHOOK_TOKEN, connections: 4, round: 'r', amount: { keys: 25 } });
  expect(result.answers).toEqual({ accepted: 25, deduplicated: 75 });
  await drained(bare);
  expect(completedRuns(bare)).toBe(25);
});

test('a held gateway lets runs wait until it is let go', async () => {
  gateway.hold(true);
  await webhook('a');
  const health = () => call<{ active_runs: number }>(`${bare.process.url}/health`);
  expect((await health()).body.active_runs).toBe(1);
  gateway.hold(false);
  await drained(bare);
  expect(completedRuns(bare)).toBe(1);
});

test('the fake gateway speaks the wire format of the contract', async () => {
  const socket = new WebSocket(gateway.url, { headers: { authorization: `Bearer ${GATEWAY_TOKEN}` } });
  await new Promise((resolve) => socket.once('open', resolve));
  const ask = async (method: string): Promise<unknown> => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }));
    const frame = await new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))));
    const decoded = decodeFrame(frame);
    return decoded.ok && decoded.kind === 'response' ? decoded.message.result : decoded;
  };
  expect(AgentRunResult.safeParse(await ask('agent.run')).error).toBeUndefined();
  expect(ServerInfo.safeParse(await ask('server.info')).error).toBeUndefined();
  socket.close();
});
