import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { loadSigningKey } from '../identity/signing-key.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';
import { until } from '../testing/until.ts';

const loaded = loadSigningKey({ identityDir: '', pem: undefined, adminToken: 'admin-token-of-the-test' });
if (!loaded.ok) throw new Error(loaded.message);
const signingKey = loaded.key;
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
});

const said = { server: 'machine', name: 'look', description: 'of the tenant', inputSchema: {}, annotations: {} };

/** A pod that takes its configuration, says what tools it has and never answers a run. */
async function startPod() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const pod = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    got: [] as string[],
    sockets: [] as WebSocket[],
    isConnected: () => server.clients.size > 0,
  };
  server.on('connection', (socket) => {
    pod.sockets.push(socket);
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: string; method?: string };
      pod.got.push(String(data));
      if (method === 'runner.configure') socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
    const params = { draining: false, tools: [said] };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'runner.state', params }));
  });
  opened.push(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return pod;
}

type Pod = Awaited<ReturnType<typeof startPod>>;

/** A gateway with the agent `far` as the sync sidecar wrote it for a namespace. */
async function world() {
  const managed = mkdtempSync(join(tmpdir(), 'managed-'));
  opened.push(() => rmSync(managed, { recursive: true, force: true }));
  const directory = join(managed, 'agents/far');
  const write = (namespace: string, { address }: Pod, uid = '1') => {
    mkdirSync(directory, { recursive: true });
    const owner = { kind: 'Agent', namespace, name: 'far', uid, generation: 1, hash: 'h' };
    const files = { 'agents/far/agent.yaml': owner };
    const manifest = { namespace: 'signalbox', files, objects: [], agents: { far: address } };
    writeFileSync(join(managed, 'manifest.new'), JSON.stringify(manifest));
    renameSync(join(managed, 'manifest.new'), join(managed, 'manifest.json'));
    writeFileSync(join(directory, 'soul.md'), `the soul of ${namespace}`);
    writeFileSync(
      join(directory, 'agent.yaml'),
      JSON.stringify({ name: 'far', model: 'any', tools: ['machine'], runtime: { mode: 'kubernetes' } }),
    );
  };
  const start = async () => {
    const config = {
      managed_dir: managed,
      mcp_servers: { machine: { image: 'machine:1', port: 8000 } },
      runtime: { mode: 'kubernetes', start_timeout_seconds: 2, reconnect_timeout_seconds: 1 },
    };
    const gateway = await startTestGateway({ signingKey, config });
    opened.push(gateway.close);
    const toolsOf = async () => (await gateway.http('GET', '/agents')).body.agents[0]?.discovered_tools as unknown[];
    return { ...gateway, toolsOf };
  };
  const remove = () => rmSync(directory, { recursive: true });
  return { write, remove, start };
}

const run = { agent: 'far', input: 'a secret of the caller' };

test.each([
  'is removed and later that of another tenant',
  'is at once that of another tenant',
  'is removed and then the operator’s',
])('where the name of an agent %s, the pod of before gets nothing more, whatever it has open', async (way) => {
  const [old, next] = [await startPod(), await startPod()];
  const { write, remove, start } = await world();
  write('team-a', old);
  const gateway = await start();
  const client = await gateway.rpc();
  const open = client.call('agent.run', run);
  await until(() => old.got.some((frame) => frame.includes('agent.run')));
  expect(await until(async () => (await gateway.toolsOf()).length > 0)).toBe(true);
  if (way.includes('later')) {
    remove();
    await gateway.reload();
    expect(old.isConnected()).toBe(true);
  }
  const before = old.got.length;
  if (way.includes('operator')) {
    remove();
    const body = {
      name: 'far',
      agent_yaml: 'name: far\nmodel: any\nruntime: {mode: kubernetes}\n',
      soul_md: 'the soul of the operator',
    };
    expect((await gateway.http('POST', '/agents', { body })).status).toBe(200);
  } else {
    write('team-b', next);
    await gateway.reload();
    expect(await gateway.toolsOf()).toEqual([]);
    void client.call('agent.run', run);
    await until(() => next.got.some((frame) => frame.includes('agent.run')));
    expect(next.got[0]).toContain('the soul of team-b');
  }
  await until(() => !old.isConnected());
  expect(old.got.slice(before)).toEqual([]);
  expect((await open).error?.data['type']).toBe('tool_unavailable');
  expect(next.got.join('')).not.toContain('team-a');
});

test('an agent that its namespace removes and creates again keeps the pod on which a run is', async () => {
  const pod = await startPod();
  const { write, remove, start } = await world();
  write('team-a', pod, '1');
  const gateway = await start();
  const client = await gateway.rpc();
  const open = client.call('agent.run', run);
  await until(() => pod.got.some((frame) => frame.includes('agent.run')));
  remove();
  await gateway.reload();
  write('team-a', pod, '2');
  await gateway.reload();
  const { id } = JSON.parse(pod.got.find((frame) => frame.includes('agent.run')) ?? '') as { id: string };
  const result = { run_id: 'r', status: 'completed', text: 'done', duration_ms: 1, tool_calls: 0, trace: [] };
  pod.sockets[0]?.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
  expect((await open).result).toMatchObject({ status: 'completed', text: 'done' });
  expect(pod.sockets).toHaveLength(1);
});
