import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runDetail, stepDetail, trustReport } from '../pages/fixtures/runs.ts';
import { explainRun } from './explain.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
let address: string;
const RUN = runIdOf(1);

beforeEach(async () => {
  server = await startTestServer();
  await server.store.addRun(1, { status: 'escalated', error_step: 'look', error_message: 'trust 0.61 is below 0.75' });
  await server.store.addStep(RUN, 'look', { output: '{"action":"restart"}' });
  address = await server.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close());

async function connect(role: Parameters<typeof as>[0]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', address), { requestInit: { headers: as(role) } });
  await client.connect(transport);
  return client;
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const answer = await client.callTool({ name, arguments: args });
  const [content] = answer.content as { type: string; text: string }[];
  return { isError: answer.isError === true, text: content?.text ?? '' };
}

test('a token is offered the tools of its role', async () => {
  const READ = ['list_runs', 'get_run', 'explain_run', 'list_pipelines', 'list_approvals', 'pipeline_stats'];
  expect((await namesOf(await connect('viewer'))).toSorted()).toEqual(READ.toSorted());
  const all = [...READ, 'start_pipeline', 'decide_approval', 'mark_run'];
  expect((await namesOf(await connect('operator'))).toSorted()).toEqual(all.toSorted());
  await expect(connect('webhook')).rejects.toThrow('requires a token with the role viewer');
});

test('arguments have the names and limits of the route', async () => {
  const client = await connect('operator');
  const { tools } = await client.listTools();
  const schemaOf = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema;
  expect(schemaOf('list_runs')?.properties).toMatchObject({
    limit: { type: 'integer' },
    status: {},
    q: { maxLength: 256 },
  });
  expect(schemaOf('mark_run')).toMatchObject({
    required: ['id', 'outcome'],
    properties: { id: { type: 'string' }, outcome: { enum: ['correct', 'partial', 'incorrect'] } },
    additionalProperties: false,
  });
  expect(JSON.parse((await call(client, 'list_runs', { limit: 1, status: ['escalated'] })).text)).toMatchObject({
    limit: 1,
    runs: [{ id: RUN }],
  });
  const refused = await call(client, 'list_runs', { limit: 201 });
  expect(refused.isError).toBe(true);
  expect(JSON.parse(refused.text)).toMatchObject({
    detail: { type: 'validation', errors: [{ loc: ['query', 'limit'] }] },
  });
  expect((await call(client, 'list_runs', { colour: 'red' })).text).toContain('colour');
});

test('an assistant asks why a run escalated', async () => {
  const { text } = await call(await connect('viewer'), 'explain_run', { id: RUN });
  expect(text).toContain(`Run ${RUN} of checkout (production): escalated.`);
  expect(text).toContain('It ended because of step look: trust 0.61 is below 0.75');
  expect(text).toContain('Conclusion: Database pool is exhausted');
  expect(text).toContain('Proposed: action restart.');
  expect(text).toContain('Attention: open.');
});

test('what an assistant changes is audited as the token behind it', async () => {
  const client = await connect('operator');
  expect((await call(client, 'mark_run', { id: RUN, outcome: 'correct', notes: 'as I would' })).isError).toBe(false);
  const audit = await server.app.inject({ url: '/audit', headers: as('admin') });
  expect(audit.json().rows).toMatchObject([
    { actor: 'mcp:the-operator', actor_kind: 'mcp', role: 'operator', action: 'mark', target: RUN },
  ]);
  const run = await server.app.inject({ url: `/runs/${RUN}`, headers: as('viewer') });
  expect(run.json().feedback).toMatchObject({ outcome: 'correct', submitted_by: 'the-operator' });
});

test('a viewer cannot call what it is not offered, and no id leaves its place in the path', async () => {
  const viewer = await connect('viewer');
  const denied = await call(viewer, 'mark_run', { id: RUN, outcome: 'correct' });
  expect(denied).toMatchObject({ isError: true });
  expect(denied.text).toContain('there is no tool "mark_run" for this token');
  for (const id of ['../audit', `${RUN}/steps`, '', { a: 1 }])
    expect((await call(viewer, 'get_run', { id })).text).toContain('not_found');
  expect(await call(viewer, 'get_run', {})).toEqual({ isError: true, text: 'id: is required' });
  for (const name of ['.', '..'])
    expect(await call(viewer, 'pipeline_stats', { name })).toEqual({ isError: true, text: `"${name}" is no name` });
});

test('a batch is refused: a message in it may call another off, whose answer then never comes', async () => {
  const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_runs' } };
  const calledOff = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const answer = await fetch(new URL('/mcp', address), {
    method: 'POST',
    headers: { ...as('viewer'), accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify([asked, calledOff]),
    signal: AbortSignal.timeout(3_000),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    detail: { type: 'validation', message: expect.stringContaining('batch') },
  });
});

test('a message with more values than the library can describe in time is refused', async () => {
  const icons = Array.from({ length: 10_000 }, () => ({}));
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1', icons } };
  const answer = await server.app.inject({
    method: 'POST',
    url: '/mcp',
    payload: { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    headers: { ...as('viewer'), accept: 'application/json, text/event-stream' },
  });
  expect([answer.statusCode, answer.json()]).toMatchObject([
    400,
    { detail: { type: 'validation', message: 'body: has more than 5000 values' } },
  ]);
});

test('a client without a token, or with a GET, is refused like on every route', async () => {
  const post = (headers: Record<string, string>) =>
    server.app.inject({
      method: 'POST',
      url: '/mcp',
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      headers,
    });
  expect((await post({})).statusCode).toBe(401);
  expect((await post(as('reload'))).statusCode).toBe(403);
  expect((await server.app.inject({ url: '/mcp', headers: as('viewer') })).statusCode).toBe(405);
  const accept = 'application/json, text/event-stream';
  const bad = await server.app.inject({
    method: 'POST',
    url: '/mcp',
    payload: { no: 'rpc' },
    headers: { ...as('viewer'), accept },
  });
  expect([bad.statusCode, bad.json().error.code]).toEqual([400, -32700]);
});

test('the sentence of a gate is said once', () => {
  const sentence = 'Not passed: trust 0.35 against 0.75.';
  const report = { ...trustReport(), sentence };
  const step = stepDetail({ step_name: 'look', trust_report: report, error: { type: 'gate', message: sentence } });
  const text = explainRun(runDetail({ steps: [step], error: { step: 'look', message: sentence } }));
  expect(text).toContain('It ended because of step look.');
  expect(text.split(sentence)).toHaveLength(2);
});
