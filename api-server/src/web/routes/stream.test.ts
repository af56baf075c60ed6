import { get, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { RunEvent, TerminalRunStatus } from '../../runs/state/model.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

type Frame = RunEvent | { type: 'run_complete'; status: TerminalRunStatus };

const RUN = runIdOf(1);
const event = (seq: number, fields: object = {}): RunEvent => ({
  seq,
  ts: '2026-11-21T12:00:00.000Z',
  level: 'info',
  event: 'step_started',
  msg: `event ${seq}`,
  run_id: RUN,
  ...fields,
});

let server: TestServer;
let base: string;
let past: RunEvent[];
let listeners: Set<(frame: Frame) => void>;
let subscribed: number;
/** Runs while the history is being read. */
let meanwhile: () => void;
const publish = (frame: Frame) => listeners.forEach((listener) => listener(frame));

beforeEach(async () => {
  past = [event(1), event(2)];
  listeners = new Set();
  subscribed = 0;
  meanwhile = () => undefined;
  server = await startTestServer({
    deps: {
      history: async (_id, after) => {
        const stored = past.filter(({ seq }) => seq > after);
        meanwhile();
        return stored;
      },
      subscribe: (_id, listener) => {
        subscribed += 1;
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  });
  await server.store.addRun(1, { status: 'running', completed_at: null });
  await server.store.addRun(2, { status: 'failed' });
  base = await server.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close());

async function open(run = RUN, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const response = await fetch(`${base}/ui/runs/${run}/stream`, {
    headers: { ...as('viewer'), ...headers },
    signal: abort.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (part: string) => {
    while (!text.includes(part)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += value;
    }
    return text;
  };
  const rest = () => until('\0');
  return { response, until, rest, abort: () => abort.abort() };
}
const numbers = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test('what another process stored between the look at the history and at the end is told before the end', async () => {
  // The run is over by its row; nothing tells this process of its last events.
  meanwhile = () => {
    past = [event(1), event(2), event(3), event(4)];
  };
  const stream = await open(runIdOf(2));
  const text = await stream.rest();
  expect(numbers(text)).toEqual([1, 2, 3, 4]);
  expect(text).toMatch(/data: \{"type":"run_complete","status":"failed"\}\n\n$/);
});

test('history first, then live, and the end last', async () => {
  const stream = await open();
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  await stream.until('"seq":2');
  publish(event(3, { step_name: 'look' }));
  publish({ type: 'run_complete', status: 'completed' });
  const text = await stream.rest();
  expect(numbers(text)).toEqual([1, 2, 3]);
  expect(text).toMatch(/data: \{"type":"run_complete","status":"completed"\}\n\n$/);
  expect(JSON.parse(/^data: (.*"seq":3.*)$/m.exec(text)?.[1] ?? '{}')).toMatchObject({
    ts: expect.any(String),
    level: 'info',
    event: 'step_started',
    msg: 'event 3',
    run_id: RUN,
    step_name: 'look',
  });
  await expect.poll(() => listeners.size).toBe(0);
});

test('what happens while the history is read is neither lost nor shown twice', async () => {
  meanwhile = () => {
    publish(event(2));
    publish(event(3));
    publish({ type: 'run_complete', status: 'stopped' });
  };
  const text = await (await open()).rest();
  expect(numbers(text)).toEqual([1, 2, 3]);
  expect(text).toContain('"status":"stopped"');
});

test('Last-Event-ID goes on where the client was', async () => {
  const stream = await open(RUN, { 'last-event-id': '1' });
  expect(numbers(await stream.until('"seq":2'))).toEqual([2]);
  stream.abort();
  await expect.poll(() => listeners.size).toBe(0);
});

test('an ended run tells its history and its end at once', async () => {
  const text = await (await open(runIdOf(2), { 'last-event-id': 'x' })).rest();
  expect(numbers(text)).toEqual([1, 2]);
  expect(text).toMatch(/"run_complete","status":"failed"\}\n\n$/);
});

test('a client that does not read is cut', async () => {
  const { port } = server.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(
      `GET /ui/runs/${RUN}/stream HTTP/1.1\r\nhost: x\r\nauthorization: ${as('viewer').authorization}\r\n\r\n`,
    ),
  );
  socket.pause();
  socket.on('error', () => undefined);
  await expect.poll(() => listeners.size).toBe(1);
  await vi.waitFor(
    () => {
      for (let n = 0; n < 20; n++) publish(event(10 + published++, { big: 'x'.repeat(100_000) }));
      expect(listeners.size).toBe(0);
    },
    { timeout: 60_000, interval: 1 },
  );
  socket.destroy();
});
let published = 0;

test('a comment keeps the connection alive every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const stream = await open();
    await stream.until('"seq":2');
    vi.advanceTimersByTime(15_000);
    expect(await stream.until(': still here\n\n')).toContain('\n: still here\n\n');
    stream.abort();
  } finally {
    vi.useRealTimers();
  }
});

test('closing the server ends open streams', async () => {
  const stream = await open();
  await stream.until('"seq":2');
  const closing = server.app.close();
  expect(await stream.rest()).not.toContain('run_complete');
  await closing;
});

test('a token has ten streams: a further one ends its oldest, and nobody else is refused', async () => {
  const ask = (role: 'viewer' | 'operator') =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(`${base}/ui/runs/${RUN}/stream`, { agent: false, headers: as(role) }, resolve).on('error', reject);
    });
  const other = await ask('operator');
  const taken: IncomingMessage[] = [];
  for (let at = 0; at < 11; at++) taken.push(await ask('viewer'));
  let text = '';
  for await (const chunk of taken[0]!) text += String(chunk);
  // A browser comes back by itself; not at once, or it would end the next one.
  expect(text).toMatch(/retry: 60000\n\n$/);
  expect(text).not.toContain('run_complete');
  expect(listeners.size).toBe(11);
  expect([...taken.slice(1), other].map(({ readableEnded, statusCode }) => [readableEnded, statusCode])).toEqual(
    Array.from({ length: 11 }, () => [false, 200]),
  );
  for (let at = 0; at < 250; at++) taken.push(await ask('viewer'));
  expect(taken.at(-1)?.statusCode).toBe(200);
  for (const response of [...taken, other]) response.destroy();
  await expect.poll(() => listeners.size).toBe(0);
});

test('the oldest stream of a token holds nothing any more, also where its client reads nothing', async () => {
  past = Array.from({ length: 200 }, (_, at) => event(at + 1, { big: 'x'.repeat(100_000) }));
  const { port } = server.app.server.address() as AddressInfo;
  const unread = () => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        `GET /ui/runs/${RUN}/stream HTTP/1.1\r\nhost: x\r\nauthorization: ${as('viewer').authorization}\r\n\r\n`,
      ),
    );
    return socket.pause().on('error', () => undefined);
  };
  const held: Socket[] = [];
  server.app.server.on('connection', (socket: Socket) => held.push(socket));
  const sockets = Array.from({ length: 10 }, unread);
  const behind = () => held.filter(({ writableLength }) => writableLength > 0).length;
  await expect.poll(behind, { timeout: 20_000 }).toBe(10);
  sockets.push(unread(), unread(), unread());
  await expect.poll(() => subscribed, { timeout: 20_000 }).toBe(13);
  await expect.poll(() => listeners.size).toBe(10);
  for (const socket of sockets) socket.destroy();
});

test('all streams together are bounded', async () => {
  const open = await startTestServer({ auth: { allowUnauthenticated: true } });
  onTestFinished(() => open.close());
  await open.store.addRun(1, { status: 'running', completed_at: null });
  const url = await open.app.listen({ host: '127.0.0.1', port: 0 });
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}/ui/runs/${RUN}/stream`, { agent: false }, resolve).on('error', reject);
    });
  const taken = await Promise.all(Array.from({ length: 200 }, ask));
  const refused = await ask();
  expect(taken.map(({ statusCode }) => statusCode)).toEqual(taken.map(() => 200));
  expect(refused.statusCode).toBe(429);
  for (const response of [...taken, refused]) response.destroy();
});
