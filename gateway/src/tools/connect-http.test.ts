import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../testing/until.ts';
import { connectHttp } from './connect-http.ts';
import type { ToolConnection, ToolOutcome } from './tool.ts';

interface Asked {
  id?: number;
  method?: string;
  params?: { name?: string };
}
const AGAIN = 'id: again\nretry: 0\ndata:\n\n';
/** What fits no schema, so often that describing each of them would take minutes. */
const NOTHINGS = Array.from({ length: 1_000_000 }, () => ({}));
const NOTE = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } });
const ASK = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS = { 'content-type': 'text/event-stream' };
const answerTo = (id: number | undefined, result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
const KEYS = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`key-${at}`, at]));
const said = (words: string) => ({ content: [{ type: 'text', text: words }] });

/** What a server does with a call of a tool of that name. */
const WAYS: Record<string, (asked: Asked, response: ServerResponse, request: IncomingMessage) => void> = {
  answer: ({ id }, response) => response.writeHead(200, EVENTS).end(`data: ${answerTo(id, said('fine'))}\n\n`),
  'answer then reset': ({ id }, response) => {
    response.writeHead(200, EVENTS);
    response.write(`data: ${answerTo(id, said('fine'))}\n\n`, () => response.destroy());
  },
  reset: (_, response) => void response.destroy(),
  'reset in the stream': (_, response) => {
    response.writeHead(200, EVENTS);
    response.write(': working\n\ndata: {"jsonrpc":', () => response.destroy());
  },
  'end of the stream': (_, response) => response.writeHead(200, EVENTS).end(': working\n\n'),
  'accepted, and no more': (_, response) => response.writeHead(202).end(),
  'resumable, then gone': (_, response) => {
    response.writeHead(200, EVENTS);
    response.write('i');
    setImmediate(() => response.write('d: lost\nretry: 10\ndata:\n\n', () => response.destroy()));
  },
  'resumable, then resumed': (asked, response) => {
    resumable = asked.id;
    response.writeHead(200, EVENTS).end('id: kept\nretry: 10\ndata:\n\n');
  },
  'resumable, resumed at the third try': (asked, response) => {
    resumable = asked.id;
    response.writeHead(200, EVENTS).end('id: slow\nretry: 10\ndata:\n\nid: not-complete\n');
  },
  'resumable, again and again': (_, response) => response.writeHead(200, EVENTS).end(AGAIN),
  'an answer that is too large': ({ id }, response) =>
    response.writeHead(200, JSON_TYPE).end(answerTo(id, said('y'.repeat(11 * 1024 * 1024)))),
  'parts that are none': ({ id }, response) =>
    response.writeHead(200, JSON_TYPE).end(answerTo(id, { content: NOTHINGS })),
  'keys without end': ({ id }, response) =>
    response.writeHead(200, JSON_TYPE).end(answerTo(id, { ...KEYS, content: [] })),
  'values without end': (_, response) =>
    response
      .writeHead(200, EVENTS)
      .end(
        `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: NOTHINGS } })}\n\n`,
      ),
  'an id that is too long': (_, response) =>
    response.writeHead(200, EVENTS).end(`id: ${'y'.repeat(2000)}\nretry: 2000000000\ndata:\n\n`),
  'an event that is too large': (_, response) =>
    response.writeHead(200, EVENTS).end(`data: ${'y'.repeat(11 * 1024 * 1024)}\n\n`),
  'an answer of nobody': (_, response) => response.writeHead(200, JSON_TYPE).end(answerTo(4711, said('not yours'))),
  'a refusal that repeats what it was sent': (_, response, request) =>
    response.writeHead(401, JSON_TYPE).end(JSON.stringify([request.headers, request.url])),
  'messages without end': (_, response) => endlessly(response.writeHead(200, EVENTS), `data: ${NOTE}\n\n`.repeat(100)),
  'comments without end, otherwise spelt': (_, response) =>
    endlessly(response.writeHead(200, { 'content-type': 'Text/Event-Stream' }), ': x\n\n'.repeat(10_000)),
  'messages that are none': (_, response) =>
    endlessly(response.writeHead(200, EVENTS), `data: {"jsonrpc":"2.0","id":1,"a":1}\n\ndata: {\n\n`, 1),
  'a failure without end': (_, response) => endlessly(response.writeHead(500, EVENTS), `: ${'y'.repeat(100_000)}\n\n`),
  'comments without end': (_, response) => endlessly(response.writeHead(200, EVENTS), ': x\n\n'.repeat(10_000)),
  'empty lines without end': (_, response) => endlessly(response.writeHead(200, EVENTS), '\n'.repeat(10_000)),
  'lines without end that end otherwise': (_, response) =>
    endlessly(response.writeHead(200, EVENTS), '\r'.repeat(10_000)),
  'requests without end': (_, response) => {
    accept = (answer) => {
      accepted(answer);
      response.write(`data: ${ASK}\n\n`);
    };
    endlessly(response.writeHead(200, EVENTS), `data: ${ASK}\n\n`, 60_000);
  },
  'a request with a long id': (_, response) =>
    endlessly(response.writeHead(200, EVENTS), `data: ${ASK.replace('1', `"${'i'.repeat(201)}"`)}\n\n`, 60_000),
  'requests whose answers are not taken': (_, response) => {
    accept = () => {};
    endlessly(response.writeHead(200, EVENTS), `data: ${ASK}\n\n`.repeat(17), 60_000);
  },
  'nothing but signs of life': (_, response) => endlessly(response.writeHead(200, EVENTS), ': working\n\n', 5),
  'an answer letter by letter': (_, response) => endlessly(response.writeHead(200, JSON_TYPE), ' ', 5),
};
let resumable: number | undefined;
/** Answers that go on until the client hangs up, and how many there were. */
const held = new Set<ServerResponse>();
let begun = 0;
let openedAgain = 0;
/** What happens with messages that have no answer. */
let accept = accepted;
let tools: object[] = [];
/** What an event stream of its own begins with, if there is one. */
let listening: ((response: ServerResponse) => void) | null = null;

function endlessly(response: ServerResponse, noise: string, pauseMs = 0): void {
  begun += 1;
  held.add(response);
  response.once('close', () => held.delete(response));
  const write = () => {
    if (!response.destroyed) response.write(noise, () => setTimeout(write, pauseMs));
  };
  write();
}

function accepted(response: ServerResponse): void {
  response.writeHead(202).end();
}

function handleGet(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['last-event-id'];
  if (asked === 'again') {
    openedAgain += 1;
    return void response.writeHead(200, EVENTS).end(AGAIN);
  }
  if (asked === 'slow' && (openedAgain += 1) < 3) return void response.writeHead(200, EVENTS).end(': not yet\n\n');
  if (listening && asked === undefined) return listening(response);
  if (asked !== 'kept' && asked !== 'slow') return void response.writeHead(asked === undefined ? 405 : 404).end();
  response.writeHead(200, EVENTS).end(`id: kept-2\ndata: ${answerTo(resumable, said('resumed'))}\n\n`);
}

async function handlePost(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = JSON.parse(await text(request)) as Asked;
  if (asked.id === undefined || asked.method === undefined) return accept(response);
  const way = WAYS[asked.params?.name ?? ''];
  if (way) return way(asked, response, request);
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'remote', version: '1' },
  };
  const listed = asked.method === 'tools/list' ? { tools } : {};
  const result = asked.method === 'initialize' ? hello : listed;
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(asked.id, result));
}

const SECRET = 'secret-of-the-operator';
let server: Server;
let connection: ToolConnection;
const connect = (port: number) =>
  connectHttp(
    { url: `http://127.0.0.1:${port}/mcp?key=${SECRET}`, headers: { authorization: `Bearer ${SECRET}` } },
    600_000,
    new AbortController().signal,
  );
beforeEach(async () => {
  [begun, openedAgain, accept, listening] = [0, 0, accepted, null];
  held.clear();
  server = createServer((request, response) =>
    request.method === 'GET' ? handleGet(request, response) : void handlePost(request, response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  connection = await connect(port);
});
afterEach(async () => {
  await connection.close();
  server.closeAllConnections();
  server.close();
});

/** With a timeout that the test does not outlive, unless it says so. */
const call = (tool: string, timeoutMs = 600_000): Promise<ToolOutcome> =>
  connection.call(tool, {}, { signal: new AbortController().signal, timeoutMs });

test.each(['reset', 'reset in the stream', 'end of the stream', 'accepted, and no more', 'resumable, then gone'])(
  'a remote server that dies in mid-call ends the call at once: %s',
  async (way) => {
    const { kind, text: words } = await call(way);
    expect(kind).toBe('unavailable');
    expect(words).toMatch(/^the tool server failed: .*(?:fetch failed|before there was an answer)$/);
    expect(await call('answer')).toEqual({ kind: 'ok', text: 'fine' });
  },
);

test.each([
  ['answer', 'fine'],
  ['answer then reset', 'fine'],
  ['resumable, then resumed', 'resumed'],
  ['resumable, resumed at the third try', 'resumed'],
])('an answer that came counts, however the stream ended: %s', async (way, words) => {
  expect(await call(way)).toEqual({ kind: 'ok', text: words });
});

test('an answer that is too large fails its call and nothing else', async () => {
  expect(await call('an answer that is too large')).toMatchObject({
    kind: 'unavailable',
    text: expect.stringContaining('sent more than 10485760 bytes'),
  });
  expect(await call('answer')).toEqual({ kind: 'ok', text: 'fine' });
});

test.each(['parts that are none', 'keys without end'])(
  'a result of too many values fails its call: %s',
  async (way) => {
    const failed = { kind: 'unavailable', text: expect.stringContaining('sent more than 50000 values in one message') };
    expect(await call(way)).toMatchObject(failed);
    expect(await call('answer')).toEqual({ kind: 'ok', text: 'fine' });
  },
);

test('a list of a million tools is none', async () => {
  tools = NOTHINGS;
  await expect(connection.listTools()).rejects.toThrow('sent more than 50000 values');
});

test.each([
  ['messages without end', 'flooded its output'],
  ['comments without end, otherwise spelt', 'flooded its output'],
  ['messages that are none', 'sent many messages that cannot be read'],
  ['comments without end', 'flooded its output'],
  ['empty lines without end', 'flooded its output'],
  ['lines without end that end otherwise', 'flooded its output'],
  ['requests without end', 'flooded its output'],
  ['values without end', 'sent more than 50000 values in one message'],
  ['an event that is too large', 'sent an event of more than 10485760 bytes'],
  ['an id that is too long', 'sent an id of an event, or a time to wait, of more than 1024 bytes'],
  ['an answer of nobody', 'answered a request that was never made'],
  ['a request with a long id', 'sent a request whose id has more than 200 characters'],
  ['requests whose answers are not taken', 'left more than 16 answers to its requests'],
  ['resumable, again and again', 'asked to reopen its event stream too often'],
])('%s end the session', async (way, reason) => {
  expect((await call(way)).kind).toBe('unavailable');
  expect(await connection.closed).toBe(reason);
  await until(() => held.size === 0);
});

test('so they do on the stream that the server has for itself', async () => {
  listening = (response) => endlessly(response.writeHead(200, EVENTS), `data: ${NOTE}\n\n`.repeat(100));
  connection = await connect((server.address() as AddressInfo).port);
  expect(await connection.closed).toBe('flooded its output');
});

test.each(['application/json', 'TEXT/event-stream', ''])(
  'also where it says that it is of the type "%s"',
  async (type) => {
    listening = (response) => endlessly(response.writeHead(200, { 'content-type': type }), ': x\n\n'.repeat(10_000));
    connection = await connect((server.address() as AddressInfo).port);
    expect(await connection.closed).toBe('flooded its output');
  },
);

test('a failure that is sent as a stream is cut off as any other', async () => {
  const { kind, text: words } = await call('a failure without end');
  expect(kind).toBe('unavailable');
  expect(words).toMatch(/null$/);
  await until(() => held.size === 0);
  expect(await call('answer')).toEqual({ kind: 'ok', text: 'fine' });
});

test.each(['nothing but signs of life', 'an answer letter by letter'])(
  'a call that is given up is not listened to any more: %s',
  async (way) => {
    expect((await call(way, 500)).kind).toBe('timeout');
    await until(() => begun === 1 && held.size === 0);
    expect(await call('answer')).toEqual({ kind: 'ok', text: 'fine' });
  },
);

test('nor is the rest of its answer asked for', async () => {
  expect((await call('resumable, again and again', 50)).kind).toBe('timeout');
  const sofar = openedAgain;
  for (let count = 0; count < 100; count++) await call('answer');
  expect(openedAgain - sofar).toBeLessThan(5);
});

test('what the server repeats of its headers and address is blanked out', async () => {
  const { text: words } = await call('a refusal that repeats what it was sent');
  expect(words).toContain('***');
  expect(words).not.toContain(SECRET);
});
