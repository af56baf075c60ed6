import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../testing/until.ts';
import { AgentPods } from './agent-pods.ts';
import { ToolRoom } from './tool-room.ts';

test('however many agents of a namespace have pods with a slow request waiting, a pod of another agent waits for few of them', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const sockets = new Map<string, WebSocket>();
  server.on('connection', (socket, { headers }) =>
    sockets.set(headers.authorization?.slice('Bearer '.length) ?? '', socket),
  );
  const handled: string[] = [];
  const pods = new AgentPods({
    addresses: async () => [`ws://127.0.0.1:${(server.address() as AddressInfo).port}`],
    token: ({ name }) => name,
    room: new ToolRoom(),
    handle: (agent) => async () => {
      handled.push(agent);
      const end = performance.now() + (agent === 'own' ? 0 : 10);
      while (performance.now() < end);
      return { ok: true, json: '0' };
    },
    onOpen: () => {},
    onState: () => {},
    onBug: (error) => expect.unreachable(String(error)),
    startTimeoutMs: 1000,
  });
  onTestFinished(() => {
    pods.close();
    server.close();
  });
  const theirs = Array.from({ length: 40 }, (_, at) => {
    const name = `theirs-${at}`;
    return { name, managedBy: { kind: 'Agent' as const, namespace: 'team-a', name } };
  });
  pods.retain([...theirs, { name: 'own', managedBy: null }]);
  await until(() => pods.connected().length === 41);
  const ask = (agent: string) => sockets.get(agent)?.send('{"jsonrpc":"2.0","id":1,"method":"m"}');
  for (const { name } of theirs) {
    sockets.get(name)?.on('message', () => ask(name));
    ask(name);
  }
  await until(() => handled.length > 50);
  const before = handled.length;
  ask('own');
  expect((await until(() => (handled.includes('own') ? handled : null))).indexOf('own') - before).toBeLessThan(20);
});
