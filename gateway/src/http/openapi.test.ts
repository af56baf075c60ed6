import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileJsonSchema } from '@signalbox/crds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

type Json = ReturnType<typeof JSON.parse>;
const TOOL_SERVER = join(import.meta.dirname, '../testing/misbehaving-server.ts');
let gateway: TestGateway;
let paths: Json;
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
  ({ paths } = (await gateway.http('GET', '/openapi.json')).body);
});
afterAll(() => gateway.close());

/** What an answer breaks of the document, null where it keeps to it. */
function broken(path: string, method: string, { status, body }: { status: number; body: unknown }): unknown {
  const { responses } = paths[path][method.toLowerCase()];
  const compiled = compileJsonSchema((responses[status] ?? responses.default).content['application/json'].schema);
  if (!compiled.ok) return compiled.msg;
  const checked = compiled.validate(body);
  return checked.ok ? null : checked.errors;
}

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
  expect(broken(path.replace(/^\/agents\/(?!validate)\w+/, '/agents/{name}'), method, answer)).toBeNull();
});

test('the document says of every route who may ask', () => {
  expect(paths['/health'].get.security).toBeUndefined();
  expect(paths['/metrics'].get.security).toEqual([{}, { bearer: [] }]);
  expect(paths['/agents'].post.security).toEqual([{ bearer: [] }]);
});
