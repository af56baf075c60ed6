import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { fairServer } from './fair-connections.ts';

let server: Server;
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

async function serve(listener: RequestListener, options: Parameters<typeof fairServer>[1] = {}): Promise<number> {
  server = fairServer(listener, options);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
function client(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(socket);
  return socket;
}
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('of a hundred requests in one packet others wait for one', async () => {
  const order: string[] = [];
  const port = await serve((request, response) => {
    order.push(request.url ?? '');
    response.end('done');
  });
  const many = client(port).resume();
  const other = client(port).resume();
  await Promise.all([many, other].map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  many.write(get('/many').repeat(100));
  other.write(get('/other'));
  await expect.poll(() => order.length).toBe(101);
  expect(order.indexOf('/other')).toBeLessThan(50);
});

test.each([
  ['begins', get('/many')],
  ['ends with its body', `POST /many HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`],
])(
  'of many clients whose request %s at once few are served in a turn, and a probe waits for none',
  async (_what, text) => {
    const order: string[] = [];
    let turn = 0;
    const turns = setInterval(() => setImmediate(() => (turn += 1)), 0);
    onTestFinished(() => clearInterval(turns));
    const inTurns: number[] = [];
    const port = await serve((request, response) => {
      const work = () => {
        order.push(request.url ?? '');
        inTurns[turn] = (inTurns[turn] ?? 0) + 1;
        const end = performance.now() + (request.url === '/many' ? 4 : 0);
        while (performance.now() < end);
        response.end('done');
      };
      if (request.method === 'GET') work();
      else request.resume().on('end', work);
    });
    const many = Array.from({ length: 50 }, () => client(port).resume());
    const probe = client(port).resume();
    await Promise.all([...many, probe].map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    for (const socket of many) socket.write(text);
    probe.write(get('/health'));
    await expect.poll(() => order.length).toBe(51);
    expect(order.indexOf('/health')).toBeLessThan(15);
    expect(Math.max(...inTurns.filter(Boolean))).toBeLessThan(10);
  },
);

test.each([
  ['requests', get('/')],
  ['requests that expect what no server knows', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n'],
])('a client that sends more %s at once than may wait is cut off, and little of it is read', async (_what, text) => {
  let handled = 0;
  let read = 0;
  const port = await serve((_request, response) => {
    handled += 1;
    response.end('done');
  });
  server.on('request', () => (read += 1)).on('checkExpectation', () => (read += 1));
  const many = client(port).resume();
  const closed = new Promise((resolve) => many.once('close', resolve));
  many.write(text.repeat(10_000));
  await closed;
  expect(handled).toBeLessThanOrEqual(101);
  expect(read).toBeLessThan(400);
});

test('a body that comes in many pieces arrives whole', async () => {
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
  let said = '';
  const port = await serve((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => response.end(Buffer.concat(pieces).equals(sent) ? 'the same' : 'another'));
  });
  const socket = client(port).on('data', (data) => (said += data.toString()));
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${sent.length}\r\n\r\n`);
  socket.write(sent);
  await expect.poll(() => said).toContain('the same');
});

test.each(['read', 'left unread'])(
  'a body of single bytes without end, which is %s, ends its connection',
  async (what) => {
    let began = 0;
    const port = await serve((request, response) => {
      began += 1;
      if (what === 'read') request.resume().on('end', () => response.end());
      else response.end('refused');
    });
    let said = '';
    const socket = client(port).on('data', (data) => (said += data.toString()));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const post = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(`${post}${'1\r\nx\r\n'.repeat(9_000)}0\r\n\r\n`);
    await expect.poll(() => said).toContain('200 OK');
    socket.write(post);
    await expect.poll(() => began).toBe(2);
    socket.write('1\r\nx\r\n'.repeat(11_000));
    await closed;
    // Not by the timeout of a request.
    expect(said).not.toContain('408');
  },
);

test('of clients that do not end their bodies the oldest is cut where they are too much, and one that ends its own is answered', async () => {
  const port = await serve((request, response) => void request.resume().on('end', () => response.end('all')), {
    unfinishedBytes: 2_000_000,
  });
  const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`;
  const body = 'x'.repeat(999_999);
  const closed: number[] = [];
  const send = (at: number) => {
    const socket = client(port).resume();
    socket.on('close', () => closed.push(at)).write(post + body);
    return socket;
  };
  let said = '';
  send(0);
  const second = send(1).on('data', (data) => (said += data.toString()));
  for (const at of [2, 3]) send(at);
  await expect.poll(() => closed.length).toBe(3);
  second.destroy();
  expect(said).toBe('');
  const last = client(port).on('data', (data) => (said += data.toString()));
  last.write(`${post}${body}x`);
  await expect.poll(() => said).toContain('all');
});

test.each([
  ['bodies', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n${'x'.repeat(30_000)}`],
  ['heads', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(15_000)}\r\n\r\n`.repeat(2)],
])(
  'of clients with requests that wait behind their first one some are cut where their %s are too much',
  async (_what, text) => {
    let closed = 0;
    const port = await serve(({ url }, response) => void (url === '/first' || response.end('answered')), {
      unfinishedBytes: 2_000_000,
    });
    const send = () =>
      void client(port)
        .resume()
        .on('close', () => (closed += 1))
        .write(get('/first') + text.repeat(40));
    send();
    let said = '';
    const other = client(port).on('data', (data) => (said += data.toString()));
    other.write(get('/'));
    await expect.poll(() => said).toContain('answered');
    expect(closed).toBe(0);
    for (const _ of [1, 2]) send();
    await expect.poll(() => closed).toBe(2);
    other.write(get('/'));
    await expect.poll(() => said.match(/answered/g)).toHaveLength(2);
  },
);

test('of what many clients send at once little is read in a turn, and all in the end', async () => {
  let turn = 0;
  const turns = setInterval(() => setImmediate(() => (turn += 1)), 0);
  onTestFinished(() => clearInterval(turns));
  const inTurns: number[] = [];
  const port = await serve((_request, response) => void response.end());
  server.on('request', () => {
    inTurns[turn] = (inTurns[turn] ?? 0) + 1;
    const end = performance.now() + 1;
    while (performance.now() < end);
  });
  let accepted = 0;
  server.on('connection', () => (accepted += 1));
  const many = Array.from({ length: 10 }, () => client(port).resume());
  await expect.poll(() => accepted).toBe(10);
  for (const socket of many)
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(15_000)}\r\n\r\n`.repeat(50));
  await expect.poll(() => inTurns.reduce((sum, read) => sum + read, 0)).toBe(500);
  // Four or five of each client are what Node reads at once.
  expect(Math.max(...inTurns.filter(Boolean))).toBeLessThan(101);
});

test('of clients that take nothing of their answers those that leave most are cut where it is too much', async () => {
  const closed: string[] = [];
  const unreadBytes = 25_000_000;
  const port = await serve(
    ({ socket, url = '' }, response) => {
      socket.once('close', () => closed.push(url));
      response.end('x'.repeat(Number(url.slice(1)) * 1_000_000));
    },
    { unreadBytes },
  );
  const [least] = ['/20', '/40', '/30'].map((url) => {
    const socket = client(port);
    socket.write(get(url));
    return socket;
  });
  await expect.poll(() => closed.toSorted(), { timeout: 10_000 }).toEqual(['/30', '/40']);
  least?.resume();
  await expect.poll(() => least?.bytesRead, { timeout: 10_000 }).toBeGreaterThan(20_000_000);
});

test('a connection whose client leaves has none of its other requests handled', async () => {
  const begun: string[] = [];
  const port = await serve((request) => void begun.push(request.url ?? ''));
  const socket = client(port);
  socket.write(get('/1') + get('/2'));
  await expect.poll(() => begun).toEqual(['/1']);
  const closed = new Promise((resolve) => server.once('connection', (one) => one.once('close', resolve)));
  socket.destroy();
  client(port).end();
  await closed;
  expect(begun).toEqual(['/1']);
});

test.each([
  ['GET', ['/here']],
  // A sender of alerts may not wait for its answer.
  ['POST', ['/gone', '/here']],
])('whether a %s is handled whose client has left', async (method, handled) => {
  const begun: string[] = [];
  const port = await serve((request) => void begun.push(request.url ?? ''));
  const [gone, here] = [client(port), client(port)];
  await Promise.all([gone, here].map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  gone.write(get('/gone').replace('GET', method));
  gone.destroy();
  here.write(get('/here'));
  await expect.poll(() => begun).toContain('/here');
  expect(begun).toEqual(handled);
});

test('an answer that its client does not take is cut off, one that takes long to make is not', async () => {
  const waiting: (() => void)[] = [];
  const port = await serve(
    (request, response) => {
      if (request.url === '/late') waiting.push(() => void response.end('late'));
      else response.end(Buffer.alloc(64 * 1024 * 1024));
    },
    { unreadMs: 50 },
  );
  const unread = client(port).pause();
  const late = client(port);
  let said = '';
  late.on('data', (data) => (said += data.toString()));
  late.write(get('/late'));
  unread.write(get('/large'));
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await expect.poll(() => waiting.length).toBe(1);
  const count = () => new Promise<number>((resolve) => server.getConnections((_error, open) => resolve(open)));
  await expect.poll(count).toBe(1);
  waiting[0]?.();
  await expect.poll(() => said).toContain('late');
});
