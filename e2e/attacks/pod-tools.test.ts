import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const INVOKE = 'invoke-token-of-the-test';
const scratch = scratchDirectory('pod-tools-');
const opened: (() => unknown)[] = [];
let states = 0;
afterEach(async () => {
  for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
});
afterAll(() => scratch.remove());

const toolOf = (name: string, description: string) => ({
  server: 'img',
  name,
  description,
  inputSchema: {},
  annotations: {},
});

/** What answers as so many pods of an agent: each says that it has other tools. */
async function podsWith(
  count: number,
  tools: (pod: number) => object[],
): Promise<{ addresses: string[]; heard: () => number }> {
  const server = new WebSocketServer({ port: 0, host: '0.0.0.0' });
  opened.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await once(server, 'listening');
  let heard = 0;
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: unknown; method?: string };
      if (method === undefined) heard += 1;
      else socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
    const params = { draining: false, tools: tools((states += 1)) };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'runner.state', params }));
  });
  const { port } = server.address() as AddressInfo;
  return { addresses: Array.from({ length: count }, (_, at) => `127.0.0.${at + 1}:${port}`), heard: () => heard };
}

async function gatewayFor(tools: string[], addresses: string[]): Promise<Service> {
  const directory = join(scratch.path, 'agents', 'far');
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'agent.yaml'),
    JSON.stringify({ name: 'far', model: 'demo/script', tools, runtime: { mode: 'kubernetes' } }),
  );
  writeFileSync(join(directory, 'soul.md'), 'Answer.');
  const config = join(scratch.path, 'gateway.yaml');
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    identity_dir: 'identity',
    agents_dir: 'agents',
    providers: { demo: { type: 'demo' } },
    mcp_servers: { img: { image: 'img', port: 1000 } },
    runtime: { mode: 'kubernetes', agents: { far: addresses } },
  };
  writeFileSync(config, JSON.stringify(settings));
  const env = { GATEWAY_ADMIN_TOKEN: 'admin-token-of-the-test', GATEWAY_INVOKE_TOKEN: INVOKE };
  const gateway = await startService('gateway', config, { env, nodeFlags: ['--max-old-space-size=256'] });
  opened.push(() => gateway.stop(1_000));
  return gateway;
}

interface Agents {
  agents: { discovered_tools: object[] }[];
  errors: { message: string }[];
}
const agentsOf = async ({ url }: Service) => (await call<Agents>(`${url}/agents`, { token: INVOKE })).body;

test.each([
  ['8 MiB', 8_300_000, 20, 'a pod describes its tools in more than'],
  ['nearly 2 MiB', 1_900_000, 80, 'the tools of its pods take more memory'],
])('pods whose tools take %s each do not fill the heap of the gateway', async (_, chars, count, reason) => {
  // A character beyond Latin-1 makes two bytes of each in the heap.
  const { addresses, heard } = await podsWith(count, (pod) => [toolOf('look', `${pod}\u0142${'a'.repeat(chars)}`)]);
  const gateway = await gatewayFor(['img'], addresses);
  await waitFor(async () => heard() >= count, { what: 'an answer to every pod', timeoutMs: 60_000 });
  expect((await agentsOf(gateway)).errors.map(({ message }) => message)).toEqual([expect.stringContaining(reason)]);
});

test.each(['a', 'a?'])(
  'tools with long names do not hold the gateway up where patterns with "%s" match none',
  async (part) => {
    const patterns = Array.from(
      { length: 64 },
      (_, at) => `img/*${part.repeat(120 / part.length)}${String(at).padStart(3, 'x')}b`,
    );
    const tools = Array.from({ length: 1000 }, (_, at) =>
      toolOf(`${'a'.repeat(250)}${String(at).padStart(5, '0')}`, ''),
    );
    const { addresses, heard } = await podsWith(1, () => tools);
    const gateway = await gatewayFor(patterns, addresses);
    await waitFor(async () => heard() === 1, { what: 'an answer to the pod', timeoutMs: 60_000 });
    const health = probeHealth(gateway.url);
    opened.push(() => health.stop());
    expect((await agentsOf(gateway)).agents[0]?.discovered_tools).toEqual([]);
    expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  },
);
