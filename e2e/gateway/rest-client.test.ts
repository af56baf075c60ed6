import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import type { OpenApiDocument } from '../support/openapi.ts';
import { runRestClient } from '../support/rest-client.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';

const TOKEN = 'client-admin-token-0';
const scratch = scratchDirectory('rest-client-');
let gateway: Service;
let document: OpenApiDocument;

beforeAll(async () => {
  const config = { server: { port: 0 }, providers: { demo: { type: 'demo', default: true } } };
  const configPath = join(scratch.path, 'gateway.yaml');
  writeFileSync(configPath, JSON.stringify(config));
  const env = { GATEWAY_ADMIN_TOKEN: TOKEN, GATEWAY_INVOKE_TOKEN: 'client-invoke-token-0' };
  gateway = await startService('gateway', configPath, { env });
  ({ body: document } = await call<OpenApiDocument>(`${gateway.url}/openapi.json`, { token: TOKEN }));
});
afterAll(async () => {
  await gateway?.stop();
  scratch.remove();
});

const program = (uses: string) => `
  import createClient from 'openapi-fetch';
  import type { paths } from './api.ts';
  const [baseUrl = '', token = ''] = process.argv.slice(2);
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
  ${uses}
`;
function runClient(uses: string): Promise<unknown> {
  const directory = join(scratch.path, `client-${uses.length}`);
  mkdirSync(directory);
  return runRestClient(document, { directory, program: program(uses), args: [gateway.url, TOKEN] });
}

test('a client made from the document creates, reads and deletes an agent', async () => {
  const printed = await runClient(`
    const pair = { agent_yaml: 'name: fresh\\nmodel: demo/x\\n', soul_md: 'You answer.' };
    const created = await client.POST('/agents', { body: { name: 'fresh', ...pair, overwrite: false } });
    const again = await client.POST('/agents', { body: { name: 'fresh', ...pair, overwrite: false } });
    const path = { name: 'fresh' };
    const read = await client.GET('/agents/{name}', { params: { path } });
    const model: string | undefined = read.data?.config.model;
    const deleted = await client.DELETE('/agents/{name}', { params: { path } });
    const types = [again.error?.detail.type, (await client.GET('/agents/{name}', { params: { path } })).error?.detail.type];
    console.log(JSON.stringify([created.data?.agent.name, model, deleted.data?.soul_md, types]));
  `);
  expect(printed).toEqual(['fresh', 'demo/x', 'You answer.', ['collision', 'not_found']]);
});

test('a program that uses what the document does not have is refused by the compiler', async () => {
  const program = "(await client.GET('/health')).data?.nothing;";
  await expect(runClient(program)).rejects.toThrow("Property 'nothing' does not exist");
});
