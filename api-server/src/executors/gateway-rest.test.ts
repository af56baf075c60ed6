import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayAgent, gatewayObjects, gatewayTools } from './gateway-rest.ts';

async function gateway(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ANSWERS: Record<string, unknown> = {
  '/mcp/servers': {
    servers: [
      {
        name: 'machine',
        transport: 'stdio',
        running: true,
        state: 'running',
        pid: 7,
        tool_count: 1,
        restart_count: 0,
        started_at: '2026-11-21T12:00:00.000Z',
        last_error: null,
      },
    ],
  },
  '/mcp/tools': { tools: [{ server: 'machine', name: 'read_load', description: 'Load.', input_schema: {} }] },
  '/tool-policy': {
    default: 'deny',
    rules: [{ index: 0, action: 'allow', server: 'machine', tool: '*', agent: null, input_regex: null, reason: null }],
  },
};
const ask = (restUrl: string | null, { token = 'invoke', timeoutMs = 60_000 } = {}) =>
  gatewayTools({ restUrl, token, ca: null, timeoutMs })();

test('servers, tools and policy come with the invoke token, whatever else the gateway says', async () => {
  const url = await gateway(({ url: path = '', headers }, response) => {
    const known = headers.authorization === 'Bearer invoke' ? ANSWERS[path] : undefined;
    response.writeHead(known === undefined ? 401 : 200).end(JSON.stringify(known ?? {}));
  });
  expect(await ask(`${url}/`)).toMatchObject({
    kind: 'found',
    servers: [{ name: 'machine', state: 'running' }],
    tools: [{ name: 'read_load' }],
    policy: { default: 'deny', rules: [{ action: 'allow', tool: '*' }] },
  });
  expect(await ask(url, { token: 'other' })).toEqual({
    kind: 'unreachable',
    message: 'It does not know the token of executors.gateway.token.',
  });
});

test.each([null, ''])('without an address (%j) nothing is asked', async (url) => {
  expect(await ask(url)).toEqual({ kind: 'not_configured' });
  expect(await gatewayTools(null)()).toEqual({ kind: 'not_configured' });
});

test.each<[string, RequestListener, string]>([
  ['fails', (_request, response) => response.writeHead(500).end('{}'), 'It answered with status 500.'],
  ['speaks no JSON', (_request, response) => response.end('<html>'), 'not its REST interface'],
  ['misses a key', (_request, response) => response.end('{}'), 'not its REST interface'],
  ['redirects', (_request, response) => response.writeHead(302, { location: '/' }).end(), 'status 302'],
  ['floods', (_request, response) => response.end('x'.repeat(5_000_000)), 'larger than 4 MiB'],
])('a gateway that %s is told in words', async (_name, answer, words) => {
  const found = await ask(await gateway(answer));
  expect(found).toMatchObject({ kind: 'unreachable', message: expect.stringContaining(words) });
});

test('one that is down, and one that never answers, are told apart', async () => {
  expect(await ask('http://127.0.0.1:1')).toMatchObject({ message: 'Nothing listens at executors.gateway.rest_url.' });
  const silent = await gateway(() => undefined);
  expect(await ask(silent, { timeoutMs: 500 })).toMatchObject({ message: 'It gave no answer within 3 seconds.' });
});

test('the state of the objects of agents comes from the gateway too, null where no controller manages any', async () => {
  const object = { kind: 'Agent', namespace: 'a', name: 'triage', definition: 'triage', hash: 'abc', conditions: [] };
  let objects: unknown = [object];
  const url = await gateway((_request, response) => void response.end(JSON.stringify({ objects })));
  const asked = () => gatewayObjects({ restUrl: url, token: 'invoke', ca: null, timeoutMs: 60_000 })();
  expect(await asked()).toEqual({ kind: 'found', objects: [{ ...object, replicas: [] }] });
  objects = null;
  expect(await asked()).toEqual({ kind: 'found', objects: null });
  objects = 'nonsense';
  expect(await asked()).toMatchObject({ kind: 'unreachable' });
});

test('an agent comes with its version and both texts; one that is gone is unknown, which is not the same as no answer', async () => {
  const paths: string[] = [];
  const url = await gateway(({ url: path = '' }, response) => {
    paths.push(path);
    const found = {
      name: 'Reader_2',
      version: 'abc',
      config: {},
      agent_yaml: 'model: m',
      soul_md: 'Be calm.',
      managed_by: null,
    };
    if (path === '/agents/Reader_2') return void response.writeHead(200).end(JSON.stringify(found));
    response.writeHead(path === '/agents/broken' ? 500 : 404).end('{}');
  });
  const agent = gatewayAgent({ restUrl: url, token: 'invoke', ca: null, timeoutMs: 60_000 });
  expect(await agent('Reader_2')).toEqual({ kind: 'found', version: 'abc', agentYaml: 'model: m', soulMd: 'Be calm.' });
  expect(await agent('gone')).toEqual({ kind: 'unknown' });
  expect(await agent('broken')).toMatchObject({ kind: 'unreachable' });
  expect(await agent('../tools')).toEqual({ kind: 'unknown' });
  expect(paths.at(-1)).toBe('/agents/..%2Ftools');
  expect(await gatewayAgent(null)('a')).toEqual({ kind: 'not_configured' });
});

test('a list without end is no list', async () => {
  const tools = Array.from({ length: 10_001 }, () => ({ server: 's', name: 'n', description: '', input_schema: {} }));
  const answers: Record<string, unknown> = { ...ANSWERS, '/mcp/tools': { tools } };
  const url = await gateway(({ url: path = '' }, response) => response.end(JSON.stringify(answers[path])));
  expect(await ask(url)).toMatchObject({ kind: 'unreachable' });
});
