import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { INVOKE_TOKEN, startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';
import { until } from '../../testing/until.ts';

const TOOL_SERVER = join(import.meta.dirname, '../../testing/misbehaving-server.ts');
const WELL = { command: process.execPath, args: [TOOL_SERVER] };
const BROKEN = { command: '/nonexistent/tool-server' };

let gateway: TestGateway;
afterEach(() => gateway.close());

async function start(config: Record<string, unknown> = {}, agents = {}): Promise<void> {
  gateway = await startTestGateway({ config, agents });
}
const get = (path: string) => gateway.http('GET', path, { token: INVOKE_TOKEN });
const running = (name: string) =>
  until(async () => {
    const { servers } = (await get('/mcp/servers')).body as { servers: { name: string; running: boolean }[] };
    return servers.find((server) => server.name === name)?.running;
  });

test('health without tool servers is ok, and says no more than the object has', async () => {
  await start({ limits: { max_concurrent_runs: 7 } }, { a: {}, b: {} });
  expect((await gateway.http('GET', '/health', { token: null })).body).toEqual({
    status: 'ok',
    version: '0.0.0-test',
    agents: 2,
    active_runs: 0,
    waiting_approvals: 0,
    max_concurrent_runs: 7,
    mcp_servers: {},
    warnings: [],
  });
});

test('health is ok while every tool server runs and degraded while one is down', async () => {
  await start({ mcp_servers: { well: WELL } });
  await running('well');
  expect((await get('/health')).body).toMatchObject({
    status: 'ok',
    mcp_servers: { well: { running: true, restart_count: 0 } },
  });
  await gateway.close();
  await start({ mcp_servers: { well: WELL, broken: BROKEN } });
  await running('well');
  await until(async () => (await get('/health')).body.mcp_servers.broken.restart_count > 0);
  expect((await get('/health')).body).toMatchObject({
    status: 'degraded',
    mcp_servers: { well: { running: true }, broken: { running: false } },
  });
});

test('health counts the runs that are active', async () => {
  const soul = '```demo\ncalls: [{tool: well/hang}]\nanswer: {confidence: 1}\n```';
  await start({ mcp_servers: { well: WELL } }, { slow: { soul, config: { tools: ['well'] } } });
  const client = await gateway.rpc();
  const answer = client.call('agent.run', { agent: 'slow', input: 'x', idempotency_key: 'k' });
  await client.event('tool_call');
  expect((await get('/health')).body.active_runs).toBe(1);
  await client.call('agent.cancel', { idempotency_key: 'k' });
  expect((await answer).error?.data['type']).toBe('cancelled');
  expect((await get('/health')).body.active_runs).toBe(0);
});

test('providers show prefix and whether they can be asked, and never a key', async () => {
  await start({
    providers: {
      main: { type: 'anthropic', api_key: 'sk-main-secret', default: true },
      keyless: { type: 'openai', api_key: '' },
      local: { type: 'ollama' },
      own: { type: 'openai_compatible', base_url: 'http://127.0.0.1:9/v1', headers: { 'x-key': 'header-secret' } },
    },
  });
  const { body } = await get('/providers');
  expect(body).toEqual({
    providers: [
      { name: 'main', configured: true, prefix: null },
      { name: 'keyless', configured: false, prefix: 'keyless/' },
      { name: 'local', configured: true, prefix: 'local/' },
      { name: 'own', configured: true, prefix: 'own/' },
    ],
  });
  expect(JSON.stringify([body, (await get('/openapi.json')).body])).not.toContain('secret');
});

test('tool servers show their process and how many tools they have, tools where they live', async () => {
  await start({ mcp_servers: { well: WELL, broken: BROKEN } });
  await running('well');
  const { servers } = (await get('/mcp/servers')).body;
  const { tools } = (await get('/mcp/tools')).body;
  expect(servers[0]).toMatchObject({ name: 'well', transport: 'stdio', pid: expect.any(Number), last_error: null });
  expect(servers[0].tool_count).toBe(tools.length);
  expect(new Date(servers[0].started_at).getTime()).toBeGreaterThan(Date.now() - 60_000);
  await until(async () => (await get('/mcp/servers')).body.servers[1].last_error);
  expect((await get('/mcp/servers')).body.servers[1]).toMatchObject({ running: false, pid: null, tool_count: 0 });
  expect(tools[0]).toEqual({
    server: 'well',
    name: 'ok',
    disabled: false,
    description: 'does ok',
    input_schema: { type: 'object' },
    annotations: { readOnlyHint: true },
    tools_hash: servers[0].tools_hash,
  });
});

test('the policy is shown as it is configured and can be asked about a call', async () => {
  await start({
    tool_policy: {
      default: 'allow',
      rules: [
        { deny: { server: 'db', tool: 'drop_*' }, reason: 'no dropping' },
        { require_approval: { server: 'db', agent: 'night-*' } },
      ],
    },
  });
  const nothing = { server: null, tool: null, agent: null, input_regex: null, reason: null };
  expect((await get('/tool-policy')).body).toEqual({
    default: 'allow',
    rules: [
      { ...nothing, index: 0, action: 'deny', server: 'db', tool: 'drop_*', reason: 'no dropping' },
      { ...nothing, index: 1, action: 'require_approval', server: 'db', agent: 'night-*' },
    ],
  });
  const ask = async (body: object) => (await gateway.http('POST', '/tool-policy/test', { body })).body;
  expect(await ask({ server: 'DB', tool: 'drop_table' })).toEqual({ action: 'deny', rule: 0, reason: 'no dropping' });
  expect(await ask({ server: 'db', tool: 'read', agent: 'night-shift' })).toMatchObject({ action: 'require_approval' });
  expect(await ask({ server: 'db', tool: 'read' })).toEqual({ action: 'allow', rule: null, reason: null });
});

test('an agent is shown whole and by file; one that is not there is 404', async () => {
  await start({}, { triage: { soul: 'You triage.\n', config: { tags: ['x'] } } });
  const { body: list } = await get('/agents');
  const { body } = await get('/agents/triage');
  expect(body).toMatchObject({
    name: 'triage',
    soul_md: 'You triage.\n',
    config: { tags: ['x'], model_fallbacks: [] },
  });
  expect(JSON.parse(body.agent_yaml)).toEqual({ name: 'triage', model: 'demo/scripted', tags: ['x'] });
  expect(body.version).toBe(list.agents[0].version);
  expect((await get('/agents/triage/soul')).body).toEqual({ name: 'triage', content: 'You triage.\n' });
  expect((await get('/agents/triage/agent')).body).toEqual({ name: 'triage', content: body.agent_yaml });
  for (const path of ['/agents/none', '/agents/none/soul', '/agents/none/agent', '/agents/..%2fx'])
    expect([(await get(path)).status, (await get(path)).body.detail.type]).toEqual([404, 'not_found']);
});

test('the list names what is wrong with an agent that could not be loaded', async () => {
  await start({}, { fine: {}, lost: { config: { model: 'gone/x' } } });
  const { body } = await get('/agents');
  expect(body.agents.map(({ name }: { name: string }) => name)).toEqual(['fine']);
  expect(body.errors).toMatchObject([{ agent: 'lost', field: 'model', value: 'gone/x', severity: 'error' }]);
});

test('every metric is there, with what happened', async () => {
  await start({ mcp_servers: { well: WELL } }, { a: {} });
  await running('well');
  await (await gateway.rpc()).call('agent.run', { agent: 'a', input: 'x' });
  const { body } = await gateway.http('GET', '/metrics', { token: null });
  for (const series of [
    'gateway_runs_total{agent="a",status="completed"} 1',
    'gateway_run_duration_seconds_count{agent="a"} 1',
    'gateway_llm_requests_total{provider="demo",model="scripted",outcome="ok"} 1',
    'gateway_llm_request_duration_seconds_count{provider="demo",model="scripted"} 1',
    'gateway_tokens_total{provider="demo",model="scripted",direction="input"}',
    '# TYPE gateway_tool_calls_total counter',
    '# TYPE gateway_tool_denials_total counter',
    '# TYPE gateway_tool_call_duration_seconds histogram',
    '# TYPE gateway_tool_definition_changes_total counter',
    '# TYPE gateway_auth_failures_total counter',
    '# TYPE gateway_runs_refused_total counter',
    'gateway_tool_server_running{server="well"} 1',
    'gateway_tool_server_restarts_total{server="well"} 0',
    'gateway_active_runs 0',
    'gateway_waiting_approvals 0',
    'gateway_queued_runs 0',
    'gateway_agents 1',
    'gateway_rpc_connections 1',
  ])
    expect(body).toContain(series);
});
