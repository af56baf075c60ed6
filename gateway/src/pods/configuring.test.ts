import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { AgentRecord } from '../agents/agent-record.ts';
import { CONNECTION_LIMITS } from '../rpc/connection-limits.ts';
import { createConnectionRoom } from '../rpc/connection-room.ts';
import { until } from '../testing/until.ts';
import { Configuring } from './configuring.ts';
import { PodLink } from './pod-link.ts';
import { ToolRoom } from './tool-room.ts';
import { WrittenConfiguration } from './written-configuration.ts';

const MIB = 1024 * 1024;
afterEach(() => void vi.useRealTimers());

/** Pods that take any configuration, links to them, and agents whose configuration is `soulOf`. */
async function world(soulOf: (agent: string) => string, unreadBytes = CONNECTION_LIMITS.unreadBytes) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const enterRoom = createConnectionRoom({ ...CONNECTION_LIMITS, unreadBytes }, 2);
  const links: PodLink[] = [];
  onTestFinished(() => {
    for (const link of links) link.close();
    server.close();
  });
  const downs: string[] = [];
  const openLink = async (agent: string) => {
    const link = new PodLink({
      agent,
      peer: `agent ${agent}`,
      room: new ToolRoom(),
      enterRoom,
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: () => 'token',
      handle: () => Promise.reject(new Error('nothing is asked')),
      onOpen: () => {},
      onRefused: (reason) => expect.unreachable(reason),
      onDown: (reason) => downs.push(reason),
      onBug: (error) => expect.unreachable(String(error)),
    });
    links.push(link);
    const connected = once(server, 'connection') as Promise<[WebSocket]>;
    link.dial();
    const [pod] = await connected;
    const got: string[] = [];
    pod.on('message', (data) => {
      const { id, method, params } = JSON.parse(String(data)) as { id: string; method: string; params: unknown };
      got.push(`${method} ${JSON.stringify(params).slice(0, 10)}`);
      pod.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
    await until(() => link.isOpen());
    return { link, pod, got };
  };
  const written: string[] = [];
  const write = ({ name }: { name: string }) => {
    written.push(name);
    return new WrittenConfiguration(soulOf(name) as never);
  };
  const agents = new Map<string, AgentRecord>();
  const agent = (name: string) => {
    if (!agents.has(name)) agents.set(name, { name, managedBy: null } as AgentRecord);
    return agents.get(name) as AgentRecord;
  };
  const onBug = (error: unknown) => expect.unreachable(String(error));
  const tools = { version: '1' };
  const configuring = new Configuring({ agent, write, toolsVersion: () => tools.version, onBug });
  return { tools, openLink, downs, written, agent, configuring };
}

type Pod = Awaited<ReturnType<Awaited<ReturnType<typeof world>>['openLink']>>;
const large = (agent: string) => (agent.startsWith('new') ? agent : agent.padEnd(7 * MIB, 'x'));
const signal = AbortSignal.timeout(100_000);

test('no pod is cut because others get their configuration, which is written once for all pods of an agent', async () => {
  const { openLink, downs, written, agent, configuring } = await world((name) => name.padEnd(1.5 * MIB), 8 * MIB);
  const pods: Pod[] = [];
  for (let at = 0; at < 12; at++) pods.push(await openLink(at < 9 ? 'a' : `b${at}`));
  configuring.add(
    agent('a'),
    pods.slice(0, 9).map(({ link }) => link),
  );
  for (const at of [9, 10, 11]) configuring.add(agent(`b${at}`), [pods[at]?.link as PodLink]);
  await until(() => pods.every(({ got }) => got.length === 1));
  expect(downs).toEqual([]);
  expect(written.toSorted()).toEqual(['a', 'b10', 'b11', 'b9']);
});

test('small configurations are written once for all pods of an agent, and again after a reload', async () => {
  const { openLink, written, agent, configuring } = await world(() => 'small');
  const links: Pod[] = [];
  for (let at = 0; at < 5; at++) links.push(await openLink('a'));
  const all = links.map(({ link }) => link);
  configuring.add(agent('a'), all);
  await until(() => links.every(({ got }) => got.length === 1));
  expect(written).toEqual(['a']);
  configuring.add(agent('a'), all);
  await until(() => written.length === 2);
  expect(links.map(({ got }) => got)).toEqual(Array.from({ length: 5 }, () => ['runner.configure "small"']));
});

test('pods that do not read hold up none of another peer, and are cut', async () => {
  const { openLink, downs, agent, configuring } = await world(large);
  const silent = [await openLink('a'), await openLink('a'), await openLink('a')];
  const [first, second] = [await openLink('b'), await openLink('b')];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const { pod } of silent) pod.pause();
  configuring.add(
    agent('a'),
    silent.map(({ link }) => link),
  );
  configuring.add(agent('b'), [first.link, second.link]);
  const asked = configuring.ask(second.link, {
    agent: agent('newer'),
    ask: () => second.link.request('agent.run', 'run', signal),
    signal,
  });
  await asked;
  expect([first, second].map(({ got }) => got)).toEqual([
    ['runner.configure "bxxxxxxxx'],
    ['runner.configure "bxxxxxxxx', 'runner.configure "newer"', 'agent.run "run"'],
  ]);
  expect(downs).toEqual([]);
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await until(() => downs.length > 0);
  expect(downs).toEqual(['it reads too slowly']);
});

test('a run waits for the configuration of its agent, unless its pod has it or it is cancelled', async () => {
  const { openLink, agent, configuring } = await world(large);
  const [busy, { link, got }] = [await openLink('a'), await openLink('a')];
  busy.pod.pause();
  configuring.add(agent('a'), [busy.link]);
  const cancel = new AbortController();
  const ask = (text: string, until: AbortSignal) =>
    configuring.ask(link, {
      agent: agent(text),
      ask: () => link.request('agent.run', text, signal),
      signal: until,
    });
  const cancelled = ask('cancelled', cancel.signal);
  const run = ask('new', signal);
  cancel.abort(new Error('it is cancelled'));
  await expect(cancelled).rejects.toThrow('it is cancelled');
  expect(got).toEqual([]);
  busy.pod.resume();
  await run;
  expect(got).toEqual(['runner.configure "new"', 'agent.run "new"']);
  busy.pod.pause();
  configuring.add(agent('b'), [busy.link]);
  await ask('new', signal);
  expect(got.at(-1)).toBe('agent.run "new"');
});

test('the runs of a pod that reconnects share one text, and other tools are written again', async () => {
  const { openLink, agent, configuring, written, tools } = await world(() => 'soul');
  const { link, got } = await openLink('a');
  const ask = () =>
    configuring.ask(link, { agent: agent('a'), ask: () => link.request('agent.run', 'run', signal), signal });
  configuring.add(agent('a'), [link]);
  await Promise.all(Array.from({ length: 50 }, ask));
  expect(written).toEqual(['a']);
  expect(got).toEqual(['runner.configure "soul"', ...Array.from({ length: 50 }, () => 'agent.run "run"')]);
  await ask();
  expect(written).toEqual(['a']);
  tools.version = '2';
  await ask();
  expect(written).toEqual(['a', 'a']);
});

test('a configuration is written in its turn, not where a run asks', async () => {
  const { openLink, agent, configuring, written } = await world((name) => name);
  const { link } = await openLink('a');
  const asked = ['a', 'b', 'c'].map((name) =>
    configuring.ask(link, { agent: agent(name), ask: () => Promise.resolve(), signal }),
  );
  expect(written.length).toBeLessThan(2);
  await Promise.all(asked);
  expect(written).toEqual(['a', 'b', 'c']);
});
