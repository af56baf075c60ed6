import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { signRunnerToken } from '../identity/runner-token.ts';
import { loadSigningKey, type SigningKey } from '../identity/signing-key.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { startFakeModelServer } from '../testing/fake-model-server.ts';
import { freePort } from '../testing/free-port.ts';
import { RpcClient } from '../testing/rpc-client.ts';
import { type RunnerProcess, startRunnerProcess } from '../testing/start-runner-process.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';
import { startTcpRelay } from '../testing/tcp-relay.ts';
import { until } from '../testing/until.ts';

vi.setConfig({ testTimeout: 180_000 });
const MISBEHAVING = join(import.meta.dirname, '../testing/misbehaving-server.ts');
const EVERYTHING = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
);
const SECRET = 'provider-secret-0123456789';
const script = (calls: string[], answer: string, delayMs = 0) =>
  `\`\`\`demo\ndelay_ms: ${delayMs}\ncalls: [${calls.join(', ')}]\nanswer: {confidence: 1, summary: "${answer}"}\n\`\`\`\n`;

const identity = mkdtempSync(join(tmpdir(), 'gateway-identity-'));
const signingKey = loaded();
const runners: RunnerProcess[] = [];
let imagePort = 0;
let imageServer: ChildProcess;
let gateway: TestGateway | null = null;

function loaded(): SigningKey {
  const result = loadSigningKey({ identityDir: identity, pem: undefined, adminToken: undefined });
  if (!result.ok) throw new Error(result.message);
  return result.key;
}

beforeAll(async () => {
  imagePort = await freePort();
  imageServer = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(imagePort) },
    stdio: 'ignore',
  });
});
afterEach(async () => {
  await gateway?.close();
  gateway = null;
  for (const runner of runners.splice(0)) await runner.stop();
});
afterAll(() => {
  imageServer.kill('SIGKILL');
  rmSync(identity, { recursive: true, force: true });
});

async function runner(agent: string, port = 0): Promise<RunnerProcess> {
  const process = await startRunnerProcess({
    AGENT_NAME: agent,
    GATEWAY_PUBLIC_KEY: signingKey.publicKey,
    RUNNER_PORT: String(port),
  });
  runners.push(process);
  return process;
}

const activeOn = async ({ address }: RunnerProcess) =>
  ((await (await fetch(`http://${address}/health`)).json()) as { active_runs: number }).active_runs;
const CHAT = DIALECTS['openai_compatible']!;
const IN_POD = { runtime: { mode: 'kubernetes' } };
type Agents = NonNullable<NonNullable<Parameters<typeof startTestGateway>[0]>['agents']>;

async function gatewayWith(agents: Agents, addresses: Record<string, string | string[]>, config: object = {}) {
  gateway = await startTestGateway({
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, agent]) => [name, { ...agent, config: { ...IN_POD, ...agent.config } }]),
    ),
    signingKey,
    config: {
      providers: { demo: { type: 'demo', default: true }, paid: { type: 'openai', api_key: SECRET } },
      mcp_servers: {
        here: { command: process.execPath, args: [MISBEHAVING] },
        beside: { image: 'everything', port: imagePort, env: { TOKEN: SECRET } },
      },
      runtime: { mode: 'kubernetes', agents: addresses, start_timeout_seconds: 120, reconnect_timeout_seconds: 60 },
      ...config,
    },
  });
  return gateway;
}

describe('an agent in a pod', () => {
  test('runs with the gateway’s model and tools and with the tool server beside it', async () => {
    const pod = await runner('far');
    const soul = script(
      ['{tool: here/ok, input: {a: 1}}', '{tool: beside/get-sum, input: {a: 2, b: 40}}'],
      '{{results.0.got.a}} and {{results.1}}',
    );
    const it = await gatewayWith(
      {
        far: { soul, config: { tools: ['here', 'beside'] } },
        near: { soul: script([], 'near'), config: { runtime: { mode: 'process' } } },
      },
      { far: pod.address },
    );
    const tools = async () => {
      const { agents } = (await it.http('GET', '/agents')).body as {
        agents: { name: string; discovered_tools: { server: string; name: string }[] }[];
      };
      return agents.find(({ name }) => name === 'far')?.discovered_tools ?? [];
    };
    await until(async () => (await tools()).some(({ server, name }) => server === 'beside' && name === 'get-sum'));
    const { servers } = (await it.http('GET', '/mcp/servers')).body as { servers: object[] };
    expect(servers).toContainEqual(expect.objectContaining({ name: 'beside', transport: 'image', running: true }));
    const client = await it.rpc();
    const answer = await client.call('agent.run', { agent: 'far', input: 'go', output_schema: { type: 'object' } });
    expect(answer.error).toBeUndefined();
    expect(answer.result).toMatchObject({
      output: { summary: '1 and The sum of 2 and 40 is 42.' },
      iterations: 3,
      tool_calls: 2,
      provider: 'demo',
      usage: { input_tokens: expect.any(Number) },
      trace: [
        { type: 'llm_call' },
        { server: 'here' },
        { type: 'llm_call' },
        { server: 'beside' },
        { type: 'llm_call' },
      ],
    });
    const runId = answer.result?.['run_id'];
    const told = client.events().filter((event) => event['run_id'] === runId);
    expect(told.map(({ event }) => event)).toEqual([
      'accepted',
      'started',
      'llm_call',
      'tool_call',
      'tool_result',
      'llm_call',
      'tool_call',
      'tool_result',
      'llm_call',
    ]);
    const metrics = String((await it.http('GET', '/metrics')).body);
    expect(metrics).toContain('gateway_tool_calls_total{server="here",tool="ok",outcome="ok"} 1');
    expect(metrics).toContain('gateway_tool_calls_total{server="beside",tool="get-sum",outcome="ok"} 1');
    expect((await client.call('agent.run', { agent: 'near', input: '' })).result).toMatchObject({
      status: 'completed',
    });
    expect(it.errors).toEqual([]);
  });

  test('holds no secret: not in its environment, its log, nor in what it is sent', async () => {
    const pod = await runner('far');
    const it = await gatewayWith(
      { far: { soul: script([], 'done'), config: { tools: ['beside'] } } },
      { far: pod.address },
    );
    await (await it.rpc()).call('agent.run', { agent: 'far', input: '' });
    const environment = readFileSync(`/proc/${pod.child.pid}/environ`, 'utf8');
    expect(
      environment
        .split('\0')
        .filter(Boolean)
        .map((entry) => entry.split('=')[0])
        .toSorted(),
    ).toEqual(['AGENT_NAME', 'GATEWAY_PUBLIC_KEY', 'RUNNER_HOST', 'RUNNER_PORT']);
    expect(environment).not.toContain('PRIVATE');
    expect(pod.output()).not.toContain(SECRET);
  });

  test('is sent nothing secret either', async () => {
    const received: string[] = [];
    const fake = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    fake.on('connection', (socket) => {
      socket.on('message', (data) => {
        received.push(String(data));
        const { id, method } = JSON.parse(String(data)) as { id: string; method: string };
        const error = { code: -32_603, message: 'fake', data: { type: 'internal', retryable: true } };
        if (method === 'agent.run') socket.send(JSON.stringify({ jsonrpc: '2.0', id, error }));
      });
    });
    await once(fake, 'listening');
    const { port } = fake.address() as AddressInfo;
    const agent = { soul: 'Be brief.', config: { tools: ['beside', 'here'] } };
    const it = await gatewayWith({ far: agent }, { far: `127.0.0.1:${port}` });
    const answer = await (await it.rpc()).call('agent.run', { agent: 'far', input: '' });
    expect(answer.error).toMatchObject({ code: -32_603 });
    expect(received.join('')).toContain('Be brief.');
    expect(received.join('')).toContain(String(imagePort));
    for (const secret of [SECRET, 'TOKEN', 'PRIVATE', 'test-invoke-token', 'test-admin-token'])
      expect(received.join('')).not.toContain(secret);
    for (const client of fake.clients) client.terminate();
    fake.close();
  });

  test('obeys the operator’s policy for both kinds of servers, and a human’s no', async () => {
    const pod = await runner('far');
    const soul = script(
      [
        '{tool: here/ok}',
        '{tool: beside/echo, input: {message: x}}',
        '{tool: beside/get-sum, input: {a: 1, b: 1}}',
        '{tool: here/error}',
      ],
      '{{results.0.error}} | {{results.1.error}} | {{results.2}} | {{results.3.error}}',
    );
    const it = await gatewayWith(
      { far: { soul, config: { tools: ['here', 'beside'] } } },
      { far: pod.address },
      {
        tool_policy: {
          rules: [
            { deny: { server: 'here', tool: 'ok' }, reason: 'no ok' },
            { deny: { tool: 'ECHO' }, reason: 'no echo' },
            { require_approval: { tool: 'get-sum' }, reason: 'sums cost' },
            { require_approval: { server: 'here', tool: 'error' }, reason: 'why' },
          ],
        },
      },
    );
    const client = await it.rpc();
    const asked: unknown[] = [];
    client.onRequest = ({ params }) => {
      asked.push(params?.['tool']);
      return params?.['tool'] === 'get-sum'
        ? { approved: true, decided_by: 'eve', input_sha256: params['input_sha256'] }
        : { approved: false, comment: 'not today' };
    };
    const answer = await client.call('agent.run', { agent: 'far', input: '', output_schema: { type: 'object' } });
    const output = answer.result?.['output'] as { summary: string };
    expect(output.summary).toContain('no ok | ');
    expect(output.summary).toContain('no echo | The sum of 1 and 1 is 2. | ');
    expect(output.summary).toContain('not today');
    expect(asked).toEqual(['get-sum', 'error']);
    const metrics = String((await it.http('GET', '/metrics')).body);
    expect(metrics).not.toContain('gateway_tool_calls_total{server="here"');
    expect(metrics).toContain('gateway_tool_denials_total{server="beside",tool="echo",agent="far"} 1');
  });

  test('fails a run whose prompt grew beyond what a frame holds, and keeps its connection', async () => {
    const pod = await runner('far');
    const calls = Array.from({ length: 10 }, () => '{tool: here/big}');
    const it = await gatewayWith(
      { far: { soul: script(calls, 'done'), config: { tools: ['here'] } } },
      { far: pod.address },
      { limits: { tool_result_max_chars: 1_000_000 } },
    );
    const client = await it.rpc();
    const answer = await client.call('agent.run', { agent: 'far', input: '' });
    expect(answer.error).toMatchObject({ code: -32_013, data: { type: 'provider_error', retryable: false } });
    expect(answer.error?.message).toContain('8388608 bytes');
    const metrics = String((await it.http('GET', '/metrics')).body);
    expect(metrics).toContain('gateway_agent_pods_connected{agent="far"} 1');
  });

  test('is cancelled and times out as in the gateway', async () => {
    const pod = await runner('far');
    const it = await gatewayWith({ far: { soul: script([], 'late', 60_000) } }, { far: pod.address });
    const client = await it.rpc();
    const slow = client.call('agent.run', { agent: 'far', input: '', idempotency_key: 'k' });
    // Begun in the pod as well: a cancel may overtake the first turn otherwise.
    await until(async () => (await activeOn(pod)) === 1);
    expect((await client.call('agent.cancel', { idempotency_key: 'k' })).result).toEqual({ cancelled: true });
    expect((await slow).error).toMatchObject({ code: -32_012, data: { type: 'cancelled' } });
    const late = await client.call('agent.run', { agent: 'far', input: '', timeout_ms: 300 });
    expect(late.error).toMatchObject({ code: -32_011, data: { type: 'timeout' } });
    await until(async () => (await activeOn(pod)) === 0);
  });

  test('takes up a changed agent without a restart', async () => {
    const pod = await runner('far');
    const it = await gatewayWith({ far: { soul: script([], 'first') } }, { far: pod.address });
    const client = await it.rpc();
    const say = async () =>
      ((await client.call('agent.run', { agent: 'far', input: '' })).result?.['text'] as string) ?? '';
    expect(await say()).toContain('first');
    expect((await it.http('PUT', '/agents/far', { body: { soul_md: script([], 'second') } })).status).toBe(200);
    expect(await say()).toContain('second');
  });
});

describe('pods come and go', () => {
  test('a run waits for its pod to start', async () => {
    const port = await freePort();
    const it = await gatewayWith(
      { far: { soul: script([], 'here') } },
      { far: `127.0.0.1:${port}` },
      {
        runtime: { mode: 'kubernetes', agents: { far: `127.0.0.1:${port}` }, start_timeout_seconds: 120 },
      },
    );
    const client = await it.rpc();
    const waiting = client.call('agent.run', { agent: 'far', input: '' });
    expect((await it.http('GET', '/health')).body.active_runs).toBe(0);
    await runner('far', port);
    expect((await waiting).result).toMatchObject({ status: 'completed' });
  });

  test('one that does not start fails the run as something to try again, and holds up nobody else', async () => {
    const port = await freePort();
    const it = await gatewayWith(
      { far: {}, near: { soul: script([], 'near'), config: { runtime: { mode: 'process' } } } },
      { far: `127.0.0.1:${port}` },
      {
        limits: { max_concurrent_runs: 1 },
        runtime: { mode: 'kubernetes', agents: { far: `127.0.0.1:${port}` }, start_timeout_seconds: 1 },
      },
    );
    const client = await it.rpc();
    const waiting = client.call('agent.run', { agent: 'far', input: '' });
    expect((await client.call('agent.run', { agent: 'near', input: '' })).result).toMatchObject({
      status: 'completed',
    });
    const late = client.call('agent.run', { agent: 'far', input: '', timeout_ms: 100 });
    expect((await late).error).toMatchObject({ code: -32_011 });
    expect((await waiting).error).toMatchObject({ code: -32_016, data: { type: 'tool_unavailable', retryable: true } });
  });

  test('runs are spread over all pods of an agent', async () => {
    const pods = [await runner('far'), await runner('far')];
    const { promise: allAsked, resolve: answerAll } = Promise.withResolvers<void>();
    const models = await startFakeModelServer([{ after: allAsked, then: CHAT.text('done') }]);
    try {
      const providers = { own: { type: 'openai_compatible', base_url: `${models.url}/v1`, default: true } };
      const addresses = { far: pods.map(({ address }) => address) };
      const it = await gatewayWith({ far: { config: { model: 'own/m' } } }, addresses, { providers });
      await until(async () =>
        String((await it.http('GET', '/metrics')).body).includes('gateway_agent_pods_connected{agent="far"} 2'),
      );
      const client = await it.rpc();
      const runs = Array.from({ length: 6 }, () => client.call('agent.run', { agent: 'far', input: '' }));
      await until(() => models.requests.length === 6);
      expect(await Promise.all(pods.map(activeOn))).toEqual([3, 3]);
      answerAll();
      for (const { result } of await Promise.all(runs)) expect(result).toMatchObject({ status: 'completed' });
    } finally {
      await models.close();
    }
  });

  test('a broken connection is mended and the run goes on where it was', async () => {
    const pod = await runner('far');
    const relay = await startTcpRelay(pod.address);
    try {
      const it = await gatewayWith(
        { far: { soul: script(['{tool: here/ok}'], 'survived', 700), config: { tools: ['here'] } } },
        { far: relay.address },
      );
      const client = await it.rpc();
      const run = client.call('agent.run', { agent: 'far', input: '' });
      await client.event('started');
      await until(() => relay.connections() === 1);
      await until(async () => (await activeOn(pod)) === 1);
      relay.cut();
      await client.event('tool_result');
      relay.cut();
      expect((await run).result).toMatchObject({
        status: 'completed',
        text: expect.stringContaining('survived'),
        tool_calls: 1,
      });
      const metrics = String((await it.http('GET', '/metrics')).body);
      expect(metrics).toContain('gateway_tool_calls_total{server="here",tool="ok",outcome="ok"} 1');
    } finally {
      relay.close();
    }
  });

  test('a pod that dies takes its run with it, and the next run finds the next pod', async () => {
    const port = await freePort();
    const first = await runner('far', port);
    const hanging = { soul: script(['{tool: here/hang}'], 'never'), config: { tools: ['here'] } };
    const it = await gatewayWith({ far: hanging }, { far: first.address });
    const client = await it.rpc();
    const lost = client.call('agent.run', { agent: 'far', input: '' });
    // One that had asked for nothing yet would begin again on the next pod.
    await client.event('tool_call');
    await first.stop();
    await runner('far', port);
    expect((await lost).error).toMatchObject({ code: -32_016, data: { retryable: true } });
    expect((await it.http('PUT', '/agents/far', { body: { soul_md: script([], 'done') } })).status).toBe(200);
    expect((await client.call('agent.run', { agent: 'far', input: '' })).result).toMatchObject({ status: 'completed' });
  });
});

describe('the runner lets in', () => {
  const other = generateKeyPairSync('ed25519').privateKey;
  const sign = (agent: string, key: KeyObject, now = Date.now()) =>
    signRunnerToken({ name: agent, managedBy: null }, key, { now, id: String(now) });

  async function statusOf(address: string, headers: Record<string, string>): Promise<number> {
    const socket = new WebSocket(`ws://${address}/rpc`, { headers });
    socket.on('error', () => {});
    const opened = once(socket, 'open').then(() => 101);
    opened.catch(() => {});
    const refused = once(socket, 'unexpected-response').then(([request, response]) => {
      request.destroy();
      return response.statusCode as number;
    });
    refused.catch(() => {});
    const status = await Promise.race([opened, refused]);
    socket.terminate();
    return status;
  }

  test('the gateway, and nobody with a forged, expired or other agent’s token', async () => {
    const pod = await runner('far');
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const good = sign('far', signingKey.privateKey);
    expect(await statusOf(pod.address, {})).toBe(401);
    expect(await statusOf(pod.address, bearer('test-admin-token-000'))).toBe(401);
    expect(await statusOf(pod.address, bearer(sign('far', other)))).toBe(401);
    expect(await statusOf(pod.address, bearer(sign('near', signingKey.privateKey)))).toBe(401);
    expect(await statusOf(pod.address, bearer(sign('far', signingKey.privateKey, Date.now() - 120_000)))).toBe(401);
    expect(await statusOf(pod.address, { ...bearer(good), origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf(pod.address, bearer(sign('far', signingKey.privateKey, Date.now() + 1000)))).toBe(101);
    expect(await statusOf(pod.address, bearer(good))).toBe(401);
  });

  test('it serves the same methods as the gateway, and runs nothing that no gateway described', async () => {
    const pod = await runner('far');
    const token = sign('far', signingKey.privateKey);
    const client = await RpcClient.connect(`http://${pod.address}`, { authorization: `Bearer ${token}` });
    expect((await client.call('server.info')).result?.['methods']).toEqual(
      expect.arrayContaining(['server.info', 'agents.list', 'agent.run', 'agent.attach', 'agent.cancel', 'ping']),
    );
    expect((await client.call('agents.list')).result).toEqual({ agents: [] });
    expect((await client.call('agent.run', { agent: 'far', input: '' })).error).toMatchObject({ code: -32_004 });
    client.close();
  });

  test('a start without a usable key ends with one line', async () => {
    await expect(startRunnerProcess({ AGENT_NAME: 'far', GATEWAY_PUBLIC_KEY: 'x' })).rejects.toThrow(
      'GATEWAY_PUBLIC_KEY',
    );
    await expect(startRunnerProcess({ GATEWAY_PUBLIC_KEY: signingKey.publicKey })).rejects.toThrow('AGENT_NAME');
  });

  test('a start on a port that is taken ends with one line', async () => {
    const [, port = ''] = (await runner('far')).address.split(':');
    await expect(runner('far', Number(port))).rejects.toThrow(
      /the runner ended: agent-runner: RUNNER_HOST, RUNNER_PORT: .*EADDRINUSE.*\n$/,
    );
  });
});
