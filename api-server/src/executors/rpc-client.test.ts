import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_FRAME_BYTES } from '@signalbox/crds';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { agentBackend, MAX_QUESTIONS } from './agent-backend.ts';
import { WebSocketRpc } from './rpc-client.ts';

interface Frame {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

let http: Server;
let sockets: WebSocketServer;
let received: { frame: Frame; socket: WebSocket }[];
let answer: (frame: Frame, socket: WebSocket) => void;
let rpc: WebSocketRpc;
const open = new AbortController().signal;

beforeEach(async () => {
  received = [];
  answer = () => undefined;
  http = createServer();
  sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, stream, head) => {
    if (request.headers.authorization !== 'Bearer good') return void stream.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data)) as Frame;
        received.push({ frame, socket });
        answer(frame, socket);
      });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  rpc = client('good');
});
afterEach(() => {
  rpc.close();
  for (const socket of sockets.clients) socket.terminate();
  http.close();
});

const client = (token: string) =>
  new WebSocketRpc({ url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/rpc`, token });
const say = (socket: WebSocket, message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
const call = (more: object = {}) =>
  rpc.call({ method: 'm', params: { a: 1 }, signal: open, repeatable: true, ...more });

test('a call whose time is over before there was a connection says why there is none', async () => {
  const { port } = http.address() as AddressInfo;
  await new Promise((resolve) => http.close(resolve));
  expect(await call({ repeatable: false })).toMatchObject({ type: 'unavailable' });
  const controller = new AbortController();
  const calling = call({ signal: controller.signal });
  controller.abort();
  expect(await calling).toMatchObject({
    type: 'unavailable',
    message: `ws://127.0.0.1:${port}/rpc cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
  });
});

test('answers find their calls, whatever their order', async () => {
  answer = ({ id }, socket) => {
    if (received.length < 3) return;
    for (const { frame } of received.toReversed()) say(socket, { id: frame.id, result: { n: frame.id } });
    void id;
  };
  const results = await Promise.all([call(), call(), call()]);
  expect(results).toEqual([1, 2, 3].map((n) => ({ ok: true, result: { n } })));
});

test('an error becomes a failure with its type and whether it may be tried again', async () => {
  const error = { code: -32010, message: 'full', data: { type: 'at_capacity', retryable: true, retry_after_ms: 500 } };
  answer = ({ id }, socket) => say(socket, { id, error });
  expect(await call()).toEqual({
    ok: false,
    type: 'at_capacity',
    message: 'full',
    retryable: true,
    retryAfterMs: 500,
    data: error.data,
  });
});

test('events reach the call whose key they carry, and no other', async () => {
  const heard: string[] = [];
  answer = ({ id }, socket) => {
    say(socket, { method: 'agent.event', params: { event: 'tool_call', idempotency_key: 'other' } });
    say(socket, { method: 'agent.event', params: { event: 'tool_call', idempotency_key: 'mine', tool: 't' } });
    say(socket, { id, result: {} });
  };
  await call({
    eventKey: 'mine',
    onEvent: (event: string, { tool }: { tool: string }) => heard.push(`${event} ${tool}`),
  });
  expect(heard).toEqual(['tool_call t']);
});

test('a call that may be repeated outlives its connection and is sent again to the letter', async () => {
  answer = ({ id }, socket) => (received.length === 1 ? socket.terminate() : say(socket, { id, result: 'late' }));
  expect(await call({ params: { idempotency_key: 'k' } })).toEqual({ ok: true, result: 'late' });
  expect(received[1]?.frame).toEqual(received[0]?.frame);
});

test('a call that may not be repeated fails with its connection', async () => {
  answer = (_, socket) => socket.terminate();
  expect(await call({ repeatable: false })).toMatchObject({ ok: false, type: 'unavailable', retryable: true });
  expect(received).toHaveLength(1);
});

test('a backend that asks for a wait of years is left alone for an hour', async () => {
  const data = { type: 'internal', retryable: true, retry_after_ms: 1e12 };
  answer = ({ id }, socket) => say(socket, { id, error: { code: -32_603, message: 'later', data } });
  expect(await call()).toMatchObject({ ok: false, retryable: true, retryAfterMs: 3_600_000 });
});

test('a refused token fails at once and is not tried again', async () => {
  rpc.close();
  rpc = client('bad');
  expect(await call()).toMatchObject({ ok: false, type: 'unauthorized', retryable: false });
});

test('aborting tells the backend and settles the call', async () => {
  const stop = new AbortController();
  answer = () => stop.abort();
  const cancel = { method: 'agent.cancel', params: { idempotency_key: 'k' } };
  expect(await call({ signal: stop.signal, cancel })).toMatchObject({ ok: false, type: 'cancelled' });
  await expect.poll(() => received.map(({ frame }) => frame.method)).toEqual(['m', 'agent.cancel']);
});

test('aborting a call that somebody else still wants settles it and does not cancel it', async () => {
  const stop = new AbortController();
  answer = ({ id }, socket) => (stop.signal.aborted ? say(socket, { id, result: 'fine' }) : stop.abort());
  const cancel = { method: 'agent.cancel', params: { idempotency_key: 'k' } };
  expect(await call({ signal: stop.signal, cancel, outlives: () => true })).toMatchObject({ type: 'cancelled' });
  expect(await call()).toMatchObject({ ok: true });
  expect(received.map(({ frame }) => frame.method)).toEqual(['m', 'm']);
});

test.each([
  ['no JSON', '{'],
  ['a batch', '[]'],
  ['an unknown id', '{"jsonrpc":"2.0","id":99,"result":1}'],
  ['binary', Buffer.from([1, 2])],
])('a frame that is %s changes nothing', async (_, frame) => {
  answer = ({ id }, socket) => {
    socket.send(frame);
    say(socket, { id, result: 'fine' });
  };
  expect(await call()).toEqual({ ok: true, result: 'fine' });
});

const agentCall = {
  agent: 'a',
  input: 'hi',
  outputSchema: {},
  idempotencyKey: 'k',
  timeoutMs: 1000,
  runId: 'r',
  pipeline: 'p',
  stepName: 's',
  team: null,
  namespace: null,
  signal: open,
  onEvent: () => undefined,
};

test('an agent whose backend is being replaced is asked again, and its log says why it waits', async () => {
  const error = { code: -32010, message: 'the gateway is stopping', data: { type: 'at_capacity', retryable: true } };
  const usage = { input_tokens: 1, output_tokens: 1, cached_input_tokens: 0 };
  const done = { run_id: 'g', status: 'completed', text: 'ok', output: null, stop_reason: 'stop', model: 'm', usage };
  const more = { provider: 'p', agent_version: 'v', duration_ms: 1, iterations: 1, tool_calls: 0, trace: [] };
  answer = ({ id }, socket) =>
    say(socket, received.length === 1 ? { id, error } : { id, result: { ...done, ...more } });
  const told: unknown[] = [];
  const onEvent = (event: string, fields: object) => void told.push([event, fields]);
  const reply = await agentBackend('gateway', rpc).run({ ...agentCall, onEvent });
  expect(reply).toMatchObject({ ok: true, text: 'ok' });
  expect(told).toEqual([['backend_full', { message: 'the gateway is stopping' }]]);
  expect(received[1]?.frame.params).toEqual(received[0]?.frame.params);
});

test('an answer that does not fit the protocol is a failure of the agent call, which names the place', async () => {
  const usage = { input_tokens: -1, output_tokens: 1 };
  answer = ({ id }, socket) =>
    say(socket, { id, result: { run_id: 'g', status: 'completed', text: 'x', duration_ms: 1, usage } });
  const reply = await agentBackend('gateway', rpc).run(agentCall);
  expect(reply).toMatchObject({ ok: false, type: 'malformed_answer' });
  expect(!reply.ok && reply.message).toContain('usage.input_tokens: Too small');
});

test('entries of a trace that are not known fail no answer', async () => {
  const trace = [{ type: 'thought', about: 'x' }, 'text', { type: 'llm_call' }, { type: 'tool_call', tool: 7 }];
  const result = { run_id: 'g', status: 'completed', text: 'x', duration_ms: 1, trace };
  answer = ({ id }, socket) => say(socket, { id, result });
  const known = trace.filter((entry) => typeof entry === 'object');
  expect(await agentBackend('gateway', rpc).run(agentCall)).toMatchObject({ ok: true, trace: known });
});

const usage = { input_tokens: 70, output_tokens: 5, cached_input_tokens: 0 };
const SPENT = { usage, model: 'm', provider: 'p', agent_version: 'v', iterations: 2, tool_calls: 1, trace: [{ a: 1 }] };
const spent = { usage: { inputTokens: 70, outputTokens: 5 }, agentVersion: 'v', iterations: 2, trace: [{ a: 1 }] };

test('a failed agent call says what it has spent', async () => {
  const error = { code: -32014, message: 'too long', data: { type: 'max_iterations', retryable: false, ...SPENT } };
  answer = ({ id }, socket) => say(socket, { id, error });
  const reply = await agentBackend('gateway', rpc).run(agentCall);
  expect(reply).toMatchObject({ ok: false, type: 'max_iterations', spent });
});

test('a cancelled agent call waits for what it has spent, and not for ever', async () => {
  const abort = new AbortController();
  const data = { type: 'cancelled', retryable: false, ...SPENT };
  let asked: unknown = null;
  answer = ({ id, method }, socket) => {
    if (method === 'agent.run') [asked] = [id, abort.abort()];
    else if (asked === 1) say(socket, { id: asked, error: { code: -32012, message: 'cancelled', data } });
  };
  const backend = agentBackend('gateway', rpc);
  expect(await backend.run({ ...agentCall, signal: abort.signal })).toMatchObject({ type: 'cancelled', spent });
  const silent = new AbortController();
  answer = ({ method }) => method === 'agent.run' && silent.abort();
  const reply = await backend.run({ ...agentCall, signal: silent.signal });
  expect(reply).toEqual({ ok: false, type: 'cancelled', message: 'stopped', retryable: false });
});

test('a certificate file that is gone for the moment ends nothing: the call goes out once it is there again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-ca-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const ca = join(folder, 'ca.crt');
  const { port } = http.address() as AddressInfo;
  const late = new WebSocketRpc({ url: `ws://127.0.0.1:${port}/rpc`, token: 'good', ca });
  onTestFinished(() => late.close());
  answer = ({ id }, socket) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 'pong' }));
  const answered = late.call({ method: 'ping', params: {}, signal: open, repeatable: true });
  writeFileSync(ca, '');
  expect(await answered).toEqual({ ok: true, result: 'pong' });
});

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);

test('a message that is nested without end is refused to whoever waits for it, and ends nothing', async () => {
  answer = ({ id }, socket) => {
    const event = `{"event":"tool_call","idempotency_key":"k","input":${DEEP}}`;
    socket.send(`{"jsonrpc":"2.0","method":"agent.event","params":${event}}`);
    socket.send(`{"jsonrpc":"2.0","id":"s1","method":"tool.request_approval","params":${DEEP}}`);
    socket.send(`{"jsonrpc":"2.0","id":${id},"result":${DEEP}}`);
  };
  const heard: string[] = [];
  const reply = await agentBackend('gateway', rpc).run({ ...agentCall, onEvent: (event) => void heard.push(event) });
  expect(reply).toMatchObject({ ok: false, type: 'output_invalid', message: expect.stringContaining('200 levels') });
  expect(heard).toEqual([]);
});

test('a call that asks people without end gets so many questions and no more', async () => {
  let asked = 0;
  const onApproval = () => {
    asked += 1;
    return new Promise<never>(() => undefined);
  };
  const question = (at: number) => ({
    run_id: 'g',
    call_id: `c${at}`,
    agent: 'a',
    server: 's',
    tool: 't',
    input: {},
    metadata: { run_id: 'r', step_name: 's' },
  });
  answer = ({ method }, socket) => {
    if (method !== 'agent.run') return;
    for (let at = 0; at < MAX_QUESTIONS + 36; at++)
      say(socket, { id: `s${at}`, method: 'tool.request_approval', params: question(at) });
  };
  void agentBackend('gateway', rpc).run({ ...agentCall, onApproval });
  const refused = () => received.filter(({ frame }) => 'result' in frame);
  await expect.poll(() => refused().length).toBe(36);
  expect(asked).toBe(MAX_QUESTIONS);
  expect(refused()[0]?.frame).toMatchObject({ result: { approved: false } });
});

test('an error that a backend describes at length is cut', async () => {
  const error = { code: -32_000, message: 'x'.repeat(500_000), data: { type: 'y'.repeat(1_000), retryable: false } };
  answer = ({ id }, socket) => say(socket, { id, error });
  const reply = await agentBackend('gateway', rpc).run(agentCall);
  expect(reply).toMatchObject({ ok: false, message: `${'x'.repeat(2_000)}…`, type: 'y'.repeat(100) });
});

const CONTROLS = '\u0001'.repeat(200_000);

test('a call that is no frame fails alone, before and after there is a connection, and cuts nobody off', async () => {
  sockets.options.maxPayload = MAX_FRAME_BYTES;
  let connections = 0;
  http.on('upgrade', () => (connections += 1));
  const tooLarge = { ok: false, type: 'call_too_large', retryable: false };
  answer = ({ id, params }, socket) => params['a'] === 1 && say(socket, { id, result: 'fine' });
  const waits = call({ params: { input: 'x'.repeat(MAX_FRAME_BYTES / 4) } });
  expect(await call({ params: { input: CONTROLS } })).toMatchObject(tooLarge);
  expect(await call()).toMatchObject({ result: 'fine' });
  expect(await call({ params: { input: 'é'.repeat(MAX_FRAME_BYTES / 2) } })).toMatchObject(tooLarge);
  expect(await call()).toMatchObject({ result: 'fine' });
  expect(connections).toBe(1);
  expect(received[0]?.frame.params['input']).toHaveLength(MAX_FRAME_BYTES / 4);
  rpc.close();
  expect(await waits).toMatchObject({ type: 'unavailable' });
});

test('questions of a call that another process takes over are left open, and the connection ends so that it is asked them', async () => {
  const stop = new AbortController();
  const ask = (socket: WebSocket, id: string) => say(socket, { id, method: 'tool.request_approval', params: {} });
  answer = ({ id }, socket) => {
    if (stop.signal.aborted) return say(socket, { id, result: 'fine' });
    ask(socket, 's1');
  };
  const onRequest = () =>
    new Promise((_resolve, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
      stop.abort();
      ask(received[0]!.socket, 's2');
    });
  expect(await call({ signal: stop.signal, onRequest, outlives: () => true })).toMatchObject({ type: 'cancelled' });
  await expect.poll(() => received[0]?.socket.readyState).toBe(WebSocket.CLOSED);
  expect(await call()).toMatchObject({ result: 'fine' });
  expect(received.map(({ frame }) => frame.method)).toEqual(['m', 'm']);
});

test('a decision that is no frame is refused instead', async () => {
  const onRequest = () => Promise.resolve({ approved: true, comment: CONTROLS });
  answer = ({ method }, socket) => {
    if (method === 'm') return say(socket, { id: 's1', method: 'tool.request_approval', params: {} });
    say(socket, { id: received[0]?.frame.id, result: 'fine' });
  };
  expect(await call({ onRequest })).toMatchObject({ result: 'fine' });
  expect(received[1]?.frame).toMatchObject({ id: 's1', error: { code: -32_603 } });
});

test('a connection that is cut each time it opens is opened more and more seldom', async () => {
  const openedAt: number[] = [];
  answer = (_, socket) => {
    openedAt.push(performance.now());
    socket.terminate();
  };
  void call();
  await expect.poll(() => openedAt.length, { timeout: 10_000 }).toBe(5);
  const [fourth = 0, fifth = 0] = openedAt.slice(3);
  expect(fifth - fourth).toBeGreaterThan(500);
});
