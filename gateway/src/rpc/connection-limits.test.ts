import { expect, test } from 'vitest';
import { startTestRpc } from '../testing/start-test-rpc.ts';
import { until } from '../testing/until.ts';
import { CONNECTION_LIMITS, isFull, type Peer } from './connection-limits.ts';

const from = (token: string, address: string, count: number): Peer[] =>
  Array.from({ length: count }, () => ({ token, address }));
const hosts = (token: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ token, address: `h${at}` }));

test.each<[string, Peer[], boolean]>([
  ['499 of the same token and address', from('invoke', 'a', 499), false],
  ['500 of the same token and address', from('invoke', 'a', 500), true],
  ['500 of the same address with another token', from('approve', 'a', 500), false],
  ['999 of the same token', hosts('invoke', 999), false],
  ['1000 of the same token', hosts('invoke', 1000), true],
  ['1000 with another token', hosts('approve', 1000), false],
  ['2000 of others', [...hosts('approve', 1000), ...hosts('admin', 1000)], true],
])('%s: no room is %s', (_, open, full) => {
  expect(isFull(open, { token: 'invoke', address: 'a' }, CONNECTION_LIMITS)).toBe(full);
});

test('a token that holds its connections gets no more, another one does, and a closed one makes room', async () => {
  const { rpc, connect } = await startTestRpc({
    call: () => Promise.reject(new Error('nothing is called')),
    limits: { ...CONNECTION_LIMITS, all: 10, ofToken: 2, ofAddress: 2 },
  });
  const [first] = await Promise.all([connect(), connect()]);
  await expect(connect()).rejects.toThrow('403');
  await connect('approve');
  first.close();
  await until(() => rpc.size() === 2);
  await connect();
  expect(rpc.size()).toBe(3);
});

const MIB = 1024 * 1024;

test('of clients that leave too much unread together, the one that left most is cut', async () => {
  let answers = 0;
  const { rpc, connect } = await startTestRpc({
    call: async ({ method }) => {
      answers += 1;
      return { ok: true, json: JSON.stringify(method === 'long' ? 'x'.repeat(7 * MIB) : 'short') };
    },
    maxFrameBytes: 8 * MIB,
    limits: { ...CONNECTION_LIMITS, unreadBytes: 8 * MIB },
  });
  const [idle, slow] = await Promise.all([connect(), connect()]);
  for (const { socket } of [idle, slow]) socket.pause();
  void idle.call('long');
  void idle.call('long');
  await until(() => answers === 2);
  const long = slow.call('long');
  await until(() => answers === 3);
  const short = slow.call('short');
  await until(() => rpc.size() === 1);
  slow.socket.resume();
  expect((await short).result).toBe('short');
  expect(String((await long).result)).toHaveLength(7 * MIB);
});

test('clients that leave one answer each are counted when the next one is sent', async () => {
  let answers = 0;
  const { rpc, connect } = await startTestRpc({
    call: async () => {
      answers += 1;
      return { ok: true, json: JSON.stringify('x'.repeat(7 * MIB)) };
    },
    maxFrameBytes: 8 * MIB,
    limits: { ...CONNECTION_LIMITS, unreadBytes: 8 * MIB },
  });
  const clients = await Promise.all([connect(), connect(), connect()]);
  for (const client of clients) {
    client.socket.pause();
    void client.call('m');
    const asked = answers + 1;
    await until(() => answers === asked);
  }
  await until(() => rpc.size() === 2);
});

test('a frame of the largest size is read, in however small pieces a network brings it', async () => {
  const { connect } = await startTestRpc({ call: async () => ({ ok: true, json: '"read"' }), maxFrameBytes: 8 * MIB });
  const client = await connect();
  expect((await client.call('m', 'x'.repeat(8 * MIB - 100))).result).toBe('read');
});

test('of clients that begin more than may wait for its end, the oldest is cut, and one that ends in time is answered', async () => {
  const { rpc, connect } = await startTestRpc({
    call: async () => ({ ok: true, json: '"short"' }),
    limits: { ...CONNECTION_LIMITS, unfinishedBytes: 2 * MIB },
  });
  const [idle, first, second] = await Promise.all([connect(), connect(), connect()]);
  const part = Buffer.alloc(0.9 * MIB, 'x');
  first.socket.send(part, { binary: false, fin: false });
  await idle.call('m');
  const closed = new Promise((resolve) => first.socket.once('close', resolve));
  second.socket.send(part, { binary: false, fin: false });
  // Pings do not hide what is not complete.
  for (let count = 0; count < 20; count++) first.socket.ping();
  const third = await connect();
  third.socket.send(part, { binary: false, fin: false });
  await closed;
  expect(rpc.size()).toBe(3);
  expect((await idle.call('m')).result).toBe('short');
  second.socket.send('', { binary: false, fin: true });
  await until(() => second.messages.length === 1);
});
