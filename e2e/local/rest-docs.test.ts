import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';

const scratch = scratchDirectory('rest-docs-');
const page = readFileSync(join(ROOT, 'docs/rest.md'), 'utf8');
let services: LocalServices;

beforeAll(async () => {
  services = await startLocalServices({ dataDir: scratch.path });
});

afterAll(async () => {
  await services?.stop();
  scratch.remove();
});

/** The routes a service describes, as docs/rest.md writes them: `/runs/{id}`. */
async function routes(url: string, token: string): Promise<string[]> {
  const { body } = await call<{ paths: Record<string, unknown> }>(`${url}/openapi.json`, { token });
  return Object.keys(body.paths);
}

const undocumented = (paths: string[]) =>
  paths.filter((path) => !['`', '?'].some((end) => page.includes(`${path}${end}`)));

test('docs/rest.md names every route of the api-server', async () => {
  const paths = await routes(services.apiServer.url, services.tokens.viewer);
  expect(paths.length).toBeGreaterThan(15);
  expect(undocumented(paths)).toEqual([]);
});

test('docs/rest.md names every route of the gateway', async () => {
  const paths = await routes(services.gateway.url, services.tokens.gateway_invoke);
  expect(paths.length).toBeGreaterThan(10);
  expect(undocumented(paths)).toEqual([]);
});
