import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAnswerCheck,
  documentProblems,
  type OpenApiDocument,
  operationProblems,
} from '../../../e2e/support/openapi.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const TOOL_SERVER = join(import.meta.dirname, '../testing/misbehaving-server.ts');
let gateway: TestGateway;
let document: OpenApiDocument;
beforeAll(async () => {
  gateway = await startTestGateway({
    agents: { full: { config: { description: 'd', tags: ['t'], tools: ['host'], limits: { timeout_seconds: 9 } } } },
    config: {
      agents_dir: 'own',
      managed_dir: '.',
      mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } },
      tool_policy: { rules: [{ deny: { tool: 'exit' }, reason: 'no' }] },
    },
  });
  mkdirSync(join(gateway.directory, 'own', 'broken'), { recursive: true });
  writeFileSync(join(gateway.directory, 'own', 'broken', 'agent.yaml'), 'name: [');
  document = (await gateway.http('GET', '/openapi.json')).body;
});
afterAll(() => gateway.close());

const PAIR = { agent_yaml: 'name: fresh\nmodel: demo/x\n', soul_md: '' };
const REQUESTS: [method: string, path: string, status: number, body?: object][] = [
  ['GET', '/health', 200],
  ['GET', '/providers', 200],
  ['GET', '/runner-key', 200],
  ['GET', '/managed-agents', 200],
  ['GET', '/mcp/servers', 200],
  ['GET', '/mcp/tools', 200],
  ['GET', '/tool-policy', 200],
  ['POST', '/tool-policy/test', 200, { server: 'host', tool: 'exit' }],
  ['POST', '/agents/validate', 200, { agent_yaml: 'name: x\nmodel: nobody/x\n' }],
  ['POST', '/reload', 200],
  ['GET', '/agents', 200],
  ['GET', '/agents/full', 200],
  ['GET', '/agents/full/soul', 200],
  ['GET', '/agents/full/agent', 200],
  ['GET', '/agents/absent', 404],
  ['POST', '/agents', 200, { name: 'fresh', ...PAIR }],
  ['POST', '/agents', 409, { name: 'fresh', ...PAIR }],
  ['POST', '/agents', 400, { name: 'other', ...PAIR }],
  ['POST', '/agents', 400, { nome: 5 }],
  ['PUT', '/agents/fresh', 200, { soul_md: 'x' }],
  ['PUT', '/agents/full', 409, { soul_md: 'x' }],
  ['DELETE', '/agents/fresh', 200],
  ['DELETE', '/agents/fresh', 404],
];

test.each(REQUESTS)('%s %s answers %i as its document says', async (method, path, status, body) => {
  const answer = await gateway.http(method, path, body ? { body } : {});
  expect(answer.status).toBe(status);
});

test('an answer with another shape, a further key or an undeclared status is found', () => {
  const check = createAnswerCheck(document);
  const provider = { name: 'demo', configured: true, prefix: null };
  const answerOf = (providers: object[], status = 200) =>
    check({ method: 'GET', path: '/providers', status, body: { providers } });
  expect(answerOf([provider])).toBeNull();
  expect(answerOf([{ ...provider, configured: 'yes' }])).toContain('must be boolean');
  expect(answerOf([{ ...provider, api_key: 'x' }])).toContain('must NOT have additional properties');
  expect(answerOf([provider], 404)).toContain('declares no status 404');
  expect(check({ method: 'GET', path: '/nothing', status: 404, body: {} })).toContain('detail');
});

test('the document is valid OpenAPI 3.1, and each operation is complete', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect(await documentProblems(document)).toEqual([]);
  expect(operationProblems(document)).toEqual([]);
});

test('a document with a mistake and an operation that lacks something are found', async () => {
  const { get } = document.paths['/health'] as { get: object };
  const responses = { 200: { description: 'OK', content: { 'application/json': { schema: {} } } } };
  const broken = { ...document, paths: { '/health': { get: { ...get, operationId: undefined, responses } } } };
  expect(await documentProblems({ ...broken, paths: { health: {} } })).not.toEqual([]);
  expect(operationProblems(broken)).toEqual([
    'get /health: an operationId of its own',
    'get /health: error statuses',
    'get /health: an example at responses 200',
  ]);
});

test('the document says of every route who may ask', () => {
  const securityOf = (path: string, method: string) =>
    (document.paths[path]?.[method] as { security?: object[] } | undefined)?.security;
  expect(securityOf('/health', 'get')).toBeUndefined();
  expect(securityOf('/metrics', 'get')).toEqual([{}, { bearer: [] }]);
  expect(securityOf('/agents', 'post')).toEqual([{ bearer: [] }]);
});
