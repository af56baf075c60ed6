import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { cutUnread, inTurn } from './fair-connections.ts';

let server: Server;
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

async function serve(listener: RequestListener, prepare: (server: Server) => void = () => undefined): Promise<number> {
  server = createServer(listener);
  prepare(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
function client(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(socket);
  return socket;
}
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('of a thousand requests in one packet others wait for one', async () => {
  const order: string[] = [];
  const port = await serve((request, response) =>
    inTurn(response, () => {
      order.push(request.url ?? '');
      response.end('done');
    }),
  );
  const many = client(port).resume();
  const other = client(port).resume();
  await Promise.all([many, other].map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  many.write(get('/many').repeat(1_000));
  other.write(get('/other'));
  await expect.poll(() => order.length).toBe(1_001);
  expect(order.indexOf('/other')).toBeLessThan(100);
});

test('a connection whose client leaves has none of its other requests handled', async () => {
  const begun: string[] = [];
  const port = await serve((request, response) => inTurn(response, () => void begun.push(request.url ?? '')));
  const socket = client(port);
  socket.write(get('/1') + get('/2'));
  await expect.poll(() => begun).toEqual(['/1']);
  const closed = new Promise((resolve) => server.once('connection', (one) => one.once('close', resolve)));
  socket.destroy();
  client(port).end();
  await closed;
  expect(begun).toEqual(['/1']);
});

test('an answer that its client does not take is cut off, one that takes long to make is not', async () => {
  const waiting: (() => void)[] = [];
  const port = await serve(
    (request, response) => {
      if (request.url === '/late') waiting.push(() => void response.end('late'));
      else response.end(Buffer.alloc(64 * 1024 * 1024));
    },
    (one) => cutUnread(one, 50),
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
