import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import type { OpenApiDocument } from '../support/openapi.ts';
import { runRestClient } from '../support/rest-client.ts';
import { scratchDirectory } from '../support/scratch.ts';

const scratch = scratchDirectory('api-client-');
let services: LocalServices;

beforeAll(async () => {
  services = await startLocalServices({ dataDir: scratch.path });
});
afterAll(async () => {
  await services?.stop();
  scratch.remove();
});

test('a client made from the document of the api-server starts a run, marks it and reads the statistics', async () => {
  const { apiServer, tokens } = services;
  const { body: document } = await call<OpenApiDocument>(`${apiServer.url}/openapi.json`, { token: tokens.viewer });
  const directory = join(scratch.path, 'client');
  mkdirSync(directory);
  const program = `
    import createClient from 'openapi-fetch';
    import type { paths } from './api.ts';
    const [baseUrl = '', token = ''] = process.argv.slice(2);
    const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
    const { data: definitions } = await client.GET('/pipelines');
    const name: string = definitions?.pipelines[0]?.name ?? '';
    const started = await client.POST('/pipelines/{name}/run', { params: { path: { name } }, body: { summary: 'Look' } });
    const id = started.data && 'run_id' in started.data ? started.data.run_id : '';
    const path = { id };
    const marked = await client.POST('/runs/{id}/feedback', { params: { path }, body: { outcome: 'correct' } });
    const run = await client.GET('/runs/{id}', { params: { path } });
    const outcome: string | undefined = run.data?.feedback?.outcome;
    const query = { stage: 'all', time_range: '24h' } as const;
    const stats = await client.GET('/pipelines/{name}/stats', { params: { path: { name }, query } });
    const total: number | undefined = stats.data?.runs_total;
    const readiness = await client.GET('/pipelines/{name}/promotion-readiness', { params: { path: { name } } });
    const steps: number | undefined = readiness.data?.summary.total;
    const absent = await client.GET('/pipelines/{name}', { params: { path: { name: 'absent' } } });
    console.log(JSON.stringify([started.data?.status, marked.response.status, outcome, total, (steps ?? 0) > 0, absent.error?.detail.type]));
  `;
  const printed = await runRestClient(document, { directory, program, args: [apiServer.url, tokens.operator] });
  expect(printed).toEqual(['accepted', 200, 'correct', 1, true, 'not_found']);
});
