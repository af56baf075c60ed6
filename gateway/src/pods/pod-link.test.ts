import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { CONNECTION_LIMITS } from '../rpc/connection-limits.ts';
import { createConnectionRoom } from '../rpc/connection-room.ts';
import type { HandleRequest } from '../rpc/connection.ts';
import type { RpcReply } from '../rpc/one-frame.ts';
import { collectGarbage } from '../testing/collect-garbage.ts';
import { until } from '../testing/until.ts';
import { PodLink } from './pod-link.ts';
import { ToolRoom } from './tool-room.ts';
import { WrittenConfiguration } from './written-configuration.ts';

/** A link to a pod that says what it wants, and the pod's side of it. */
async function linked(
  handle: HandleRequest = async ({ params }) => ({ ok: true, result: params }),
  enterRoom = createConnectionRoom(CONNECTION_LIMITS, 2),
) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const downs: string[] = [];
  const dials = { count: 0 };
  const refusals: string[] = [];
  const room = new ToolRoom();
  const link = new PodLink({
    agent: 'far',
    peer: 'agent far',
    room,
    enterRoom,
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: () => `token ${(dials.count += 1)}`,
    handle,
    onOpen: () => {},
    onRefused: (reason) => refusals.push(reason),
    onDown: (reason) => downs.push(reason),
    onBug: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => {
    link.close();
    server.close();
  });
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  link.dial();
  const [pod] = await connected;
  await until(() => link.isOpen());
  return { link, pod, downs, dials, refusals, room, server };
}

const request = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"model.generate","params":${params}}`;
const values = (count: number) => `[${'0,'.repeat(count - 2)}0]`;

test('a message of a pod with too many values is not parsed, and the link goes down', async () => {
  const { link, pod, downs } = await linked();
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  pod.send(request(values(200_001)));
  const [code] = await once(pod, 'close');
  expect([code, downs, link.isOpen()]).toEqual([1009, ['a frame had more than 200000 values'], false]);
  expect(parse).not.toHaveBeenCalled();
});

test('nor is one whose values and their names are too many together', async () => {
  const { pod, downs } = await linked();
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  pod.send(request(`{${Array.from({ length: 100_001 }, (_, at) => `"${at}":0`).join(',')}}`));
  const [code] = await once(pod, 'close');
  expect([code, downs]).toEqual([1009, ['a frame had more than 200000 values']]);
  expect(parse).not.toHaveBeenCalled();
});

test('one with as many as fit is answered', async () => {
  const { pod } = await linked();
  const answered = once(pod, 'message');
  pod.send(request(values(199_990)));
  expect(JSON.parse(String((await answered)[0]))).toMatchObject({ id: 1, result: expect.any(Array) });
});

test('a request with too many values is refused here, and a text is one value', async () => {
  const { link, pod } = await linked();
  pod.on('message', (data) =>
    pod.send(`{"jsonrpc":"2.0","id":${JSON.stringify(JSON.parse(String(data)).id)},"result":1}`),
  );
  const ask = (params: unknown) => link.request('agent.run', params, AbortSignal.timeout(50_000));
  expect((await ask(Array(200_001).fill(0))).error?.message).toContain('8388608 bytes and 200000 values');
  expect((await ask({ input: '[,'.repeat(1_000_000) })).result).toBe(1);
});

test('a request of a pod is not kept while its answer is awaited', async () => {
  let handled: WeakRef<object> | undefined;
  const { promise, resolve } = Promise.withResolvers<RpcReply>();
  const { pod } = await linked(({ params }) => {
    handled = new WeakRef(params as object);
    return promise;
  });
  pod.send(request(values(1_000)));
  await until(() => handled !== undefined);
  await until(() => {
    collectGarbage();
    return handled?.deref() === undefined;
  });
  const answered = once(pod, 'message');
  resolve({ ok: true, result: 1 });
  expect(JSON.parse(String((await answered)[0]))).toMatchObject({ id: 1, result: 1 });
});

test('a pod that does not take its configuration gets no runs until it takes one', async () => {
  const { link, pod, refusals } = await linked();
  const error = { code: 1, message: `it is not valid ${'x'.repeat(1_000)}` };
  pod.on('message', (data) => {
    const { id, params } = JSON.parse(String(data));
    pod.send(JSON.stringify({ jsonrpc: '2.0', id, ...(params === 'good' ? { result: {} } : { error }) }));
  });
  for (const configuration of ['bad', 'worse']) void link.configure(new WrittenConfiguration(configuration as never));
  await until(() => !link.takesRuns());
  expect(link.refused).toHaveLength(300);
  await link.configure(new WrittenConfiguration('good' as never));
  await until(() => link.takesRuns());
  expect(refusals).toEqual([expect.stringMatching(/^it is not valid x/)]);
});

const MIB = 1024 * 1024;
const nothing: HandleRequest = () => Promise.reject(new Error('nothing is asked'));

test('of pods that begin more than may wait for its end together, the oldest is cut', async () => {
  const enterRoom = createConnectionRoom({ ...CONNECTION_LIMITS, unfinishedBytes: 2 * MIB }, 2);
  const idle = await linked(nothing, enterRoom);
  idle.pod.pong();
  const pods = [await linked(nothing, enterRoom), await linked(nothing, enterRoom), await linked(nothing, enterRoom)];
  for (const { pod } of pods) {
    pod.send(Buffer.alloc(0.9 * MIB, 'x'), { binary: false, fin: false });
    // Pings do not hide what is not complete.
    for (let count = 0; count < 20; count++) pod.ping();
    await once(pod, 'pong');
  }
  await until(() => pods[0]?.link.isOpen() === false);
  expect([idle, ...pods].map(({ downs }) => downs)).toEqual([
    [],
    ['it did not complete a message, and there is no room for more of it'],
    [],
    [],
  ]);
});

test('of pods that leave too much unread together, those that left most are cut', async () => {
  const enterRoom = createConnectionRoom({ ...CONNECTION_LIMITS, unreadBytes: 12 * MIB }, 2);
  const pods = [await linked(nothing, enterRoom), await linked(nothing, enterRoom), await linked(nothing, enterRoom)];
  const sizes = [7.9, 7.5, 1];
  for (const [at, { link, pod }] of pods.entries()) {
    pod.pause();
    link.request('agent.run', 'x'.repeat((sizes[at] ?? 0) * MIB), AbortSignal.timeout(50_000)).catch(() => undefined);
  }
  await until(() => pods[0]?.link.isOpen() === false);
  expect(pods.map(({ downs }) => downs)).toEqual([['it reads too slowly'], [], []]);
});

test('a pod that sends a message in too many parts is cut', async () => {
  const { pod, downs } = await linked(nothing);
  for (let part = 0; part < 2100; part++) pod.send('x', { binary: false, fin: false });
  await until(() => downs.length > 0);
  expect(downs).toEqual(['Too many message fragments']);
});

const tool = { server: 'img', name: 'look', description: '', inputSchema: {}, annotations: {} };

/** Says a state and returns the gateway's answer. */
async function say(pod: WebSocket, params: object) {
  const answered = once(pod, 'message');
  pod.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'runner.state', params }));
  return JSON.parse(String((await answered)[0])) as { result?: null; error?: { message: string } };
}

test('the tools of a pod are kept until its connection ends', async () => {
  const { link, pod, room } = await linked();
  expect(await say(pod, { draining: false, tools: [tool] })).toMatchObject({ result: null });
  expect([...room.lists('far')].map(({ tools }) => tools)).toEqual([[tool]]);
  link.close();
  expect([link.isOpen(), ...room.lists()]).toEqual([false]);
});

test('a pod with too many tools is heard when it says that it ends, and the agent has a warning', async () => {
  const { link, pod, room } = await linked();
  expect(link.takesRuns()).toBe(true);
  const tools = Array.from({ length: 1001 }, (_, index) => ({ ...tool, name: `look_${index}` }));
  const reason = 'a pod lists more than 1000 tools, or one that is not valid';
  expect(await say(pod, { draining: true, tools })).toMatchObject({ error: { message: reason } });
  expect(link.takesRuns()).toBe(false);
  expect([...room.refused()]).toEqual([['far', reason]]);
  expect(await say(pod, { draining: false, tools: [tool] })).toMatchObject({ result: null });
  expect([link.takesRuns(), ...room.refused()]).toEqual([true]);
});

test('the more often a pod ends its connection soon, the longer it is not dialled', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { link, dials, server } = await linked();
  const rests: number[] = [];
  const openFor = async (ms: number) => {
    await until(() => link.isOpen());
    vi.advanceTimersByTime(ms);
    for (const client of server.clients) client.terminate();
    await until(() => !link.isOpen());
    const { count } = dials;
    let rest = 0;
    for (link.dial(); dials.count === count; link.dial(), rest += 250) vi.advanceTimersByTime(250);
    rests.push(rest);
  };
  for (let at = 0; at < 7; at++) await openFor(100);
  await openFor(10_000);
  await openFor(100);
  expect(rests).toEqual([250, 750, 1750, 3750, 5000, 5000, 5000, 0, 250]);
});
