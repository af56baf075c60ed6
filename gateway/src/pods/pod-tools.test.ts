import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { loadSigningKey } from '../identity/signing-key.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';
import { until } from '../testing/until.ts';

const MISBEHAVING = fileURLToPath(new URL('../testing/misbehaving-server.ts', import.meta.url));
const loaded = loadSigningKey({ identityDir: '', pem: undefined, adminToken: 'admin-token-of-the-test' });
if (!loaded.ok) throw new Error(loaded.message);
const signingKey = loaded.key;
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
});

const toolOf = (server: string, name: string, description = '') => ({
  server,
  name,
  description,
  inputSchema: {},
  annotations: {},
});

/** What answers as a pod and says that it has these tools; its address, and whether the gateway took them. */
async function podWith(tools: object[], configured: object = { result: {} }) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  opened.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await once(server, 'listening');
  const said = new Promise<{ error?: object }>((resolve) => {
    server.on('connection', (socket) => {
      socket.on('message', (data) => {
        const { id, method, ...answer } = JSON.parse(String(data));
        if (method === undefined) resolve(answer);
        else socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...configured }));
      });
      const params = { draining: false, tools };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'runner.state', params }));
    });
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, said };
}

test('what a pod says of its tools is taken of its own servers, within its bounds, and does not fill the lists of others', async () => {
  const long = 'd'.repeat(200_000);
  const pods = {
    plain: await podWith([toolOf('img', 'look'), toolOf('here', 'ok', 'of the pod'), toolOf('other', 'look')]),
    many: await podWith(Array.from({ length: 1001 }, (_, index) => toolOf('img', `look_${index}`))),
    large: await podWith(Array.from({ length: 11 }, (_, index) => toolOf('img', `read_${index}`, long))),
    refusing: await podWith([], { error: { code: -32_602, message: 'the configuration is not valid' } }),
    ...Object.fromEntries(
      await Promise.all(
        ['a', 'b', 'c'].map(
          async (agent) =>
            [
              agent,
              await podWith(Array.from({ length: 10 }, (_, at) => toolOf('img', `${agent}_${at}`, long))),
            ] as const,
        ),
      ),
    ),
  };
  const agent = { config: { tools: ['img', 'here'], runtime: { mode: 'kubernetes' } } };
  const gateway = await startTestGateway({
    agents: Object.fromEntries(Object.keys(pods).map((name) => [name, agent])),
    signingKey,
    config: {
      mcp_servers: {
        here: { command: process.execPath, args: [MISBEHAVING] },
        img: { image: 'img', port: 1 },
        other: { image: 'other', port: 2 },
      },
      runtime: {
        mode: 'kubernetes',
        agents: Object.fromEntries(Object.entries(pods).map(([name, { address }]) => [name, address])),
      },
    },
  });
  opened.push(gateway.close);
  const answers = await Promise.all(Object.values(pods).map(({ said }) => said));
  expect(answers.map(({ error }) => error !== undefined)).toEqual([false, true, true, false, false, false, false]);
  await until(async () =>
    (await gateway.http('GET', '/mcp/tools')).body.tools.some(({ server }: { server: string }) => server === 'here'),
  );

  const { agents, errors } = (await gateway.http('GET', '/agents')).body;
  const { discovered_tools: found } = agents.find(({ name }: { name: string }) => name === 'plain');
  expect(found.filter(({ server }: { server: string }) => server !== 'here')).toMatchObject([
    { server: 'img', name: 'look' },
  ]);
  const { discovered_tools: ofOthers } = agents.find(({ name }: { name: string }) => name === 'many');
  expect(found.filter(({ server }: { server: string }) => server === 'here')).toEqual(ofOthers);
  expect(errors).toEqual([
    expect.objectContaining({
      agent: 'many',
      field: 'tools',
      severity: 'warning',
      message: expect.stringContaining('1000 tools'),
    }),
    expect.objectContaining({
      agent: 'large',
      field: 'tools',
      severity: 'warning',
      message: expect.stringContaining('2097152'),
    }),
    expect.objectContaining({
      agent: 'refusing',
      field: 'runtime',
      severity: 'warning',
      message: 'a pod refused its configuration: the configuration is not valid',
    }),
  ]);

  const { tools } = (await gateway.http('GET', '/mcp/tools')).body;
  const rows = tools.map(({ server, name }: { server: string; name: string }) => `${server}/${name}`);
  expect(rows.filter((row: string) => /^(img|other)\/look/.test(row))).toEqual(['img/look']);
  expect(new Set(rows).size).toBe(rows.length);
  expect(JSON.stringify(tools)).not.toContain('of the pod');
  expect(JSON.stringify(tools).length).toBeLessThan(4 * 1024 * 1024);
  expect(gateway.errors).toEqual([]);
});
