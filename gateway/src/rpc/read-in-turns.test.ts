import { expect, onTestFinished, test } from 'vitest';
import { startTestRpc } from '../testing/start-test-rpc.ts';
import { until } from '../testing/until.ts';

const FRAMES = 2000;
const ids = Array.from({ length: FRAMES }, (_, id) => id);

/** Handles frames, each in a tenth of a millisecond, and counts them by the turns of the event loop. */
function slowHandler() {
  const handled: { client: number; id: unknown }[] = [];
  const inTurn = [0];
  const turns = setInterval(() => setImmediate(() => inTurn.push(0)), 0);
  onTestFinished(() => clearInterval(turns));
  const call = async ({ id, params }: { id?: unknown; params?: unknown }) => {
    handled.push({ client: Number(params), id });
    inTurn.push((inTurn.pop() ?? 0) + 1);
    const end = performance.now() + 0.1;
    while (performance.now() < end);
    return { ok: true, json: '0' };
  };
  return { call, handled, inTurn };
}

test('of frames that come at once a turn of the event loop handles few, those of each client in turn and in their order', async () => {
  const { call, handled, inTurn } = slowHandler();
  const { connect } = await startTestRpc({ call });
  const clients = await Promise.all([connect(), connect(), connect()]);
  for (const [params, { socket }] of clients.entries())
    for (const id of ids) socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'm', params }));
  await until(() => clients.every(({ messages }) => messages.length === FRAMES));
  expect(Math.max(...inTurn)).toBeLessThan(400);
  const of = (at: number) => handled.flatMap(({ client, id }) => (client === at ? [id] : []));
  for (const at of [0, 1, 2]) expect(of(at)).toEqual(ids);
  const begins = [0, 1, 2].map((at) => handled.findIndex(({ client }) => client === at));
  const ends = [0, 1, 2].map((at) => handled.findLastIndex(({ client }) => client === at));
  expect(Math.max(...begins)).toBeLessThan(Math.min(...ends));
});

test('a client that leaves while its frames wait is forgotten, and what it sent before it closed is handled', async () => {
  const { call, handled } = slowHandler();
  const { rpc, connect } = await startTestRpc({ call });
  const [gone, closing] = await Promise.all([connect(), connect()]);
  for (const [params, { socket }] of [gone, closing].entries())
    for (const id of ids) socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'm', params }));
  closing.socket.close();
  await until(() => handled.length > 0);
  gone.close();
  await until(() => rpc.size() === 0);
  expect(handled.filter(({ client }) => client === 1)).toHaveLength(FRAMES);
});

test('however many clients of a token have a slow frame waiting, one of another token waits for few of them', async () => {
  const handled: unknown[] = [];
  const call = async ({ params }: { params?: unknown }) => {
    handled.push(params);
    const end = performance.now() + (params === 'slow' ? 10 : 0);
    while (performance.now() < end);
    return { ok: true, json: '0' };
  };
  const { connect } = await startTestRpc({ call });
  const many = await Promise.all(Array.from({ length: 40 }, () => connect()));
  const other = await connect('approve');
  for (const client of many) {
    const again = () => client.socket.send('{"jsonrpc":"2.0","id":1,"method":"m","params":"slow"}');
    client.socket.on('message', again);
    again();
  }
  await until(() => handled.length > 50);
  const before = handled.length;
  await other.call('m', 'quick');
  expect(handled.indexOf('quick') - before).toBeLessThan(20);
  for (const client of many) client.close();
});
