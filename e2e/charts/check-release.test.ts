import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../support/start-service.ts';

/** Both services as far as the script asks them; a test takes one answer away. */
let server: Server;
let url: string;
let answers: Record<string, [number, object]>;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const refused = path === '/webhook' && request.headers.authorization !== 'Bearer w';
    const [status, body] = refused ? [401, {}] : (answers[path] ?? [404, {}]);
    request.resume();
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  answers = {
    '/ready': [200, {}],
    '/health': [200, {}],
    '/webhook': [422, {}],
    '/agents': [200, { agents: [], errors: {} }],
  };
});

const helmTest = (gateway = url) => {
  const script = join(ROOT, 'charts/signalbox/files/check-release.mjs');
  const env = { API_SERVER: url, GATEWAY: gateway, WEBHOOK_TOKEN: 'w', VIEWER_TOKEN: 'v' };
  return promisify(execFile)(process.execPath, [script], { env }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
};

test('a working installation passes', async () => {
  expect(await helmTest()).not.toContain('FAILED');
});

test.each<[string, string, [number, object]]>([
  ['the api-server is ready', '/ready', [503, {}]],
  ['the webhook accepts its token', '/webhook', [400, {}]],
  ['the api-server reaches the gateway', '/agents', [200, { agents: [], errors: { gateway: 'connect ECONNREFUSED' } }]],
])('what does not work is named: %s', async (what, path, answer) => {
  answers[path] = answer;
  expect(await helmTest()).toContain(`FAILED ${what}`);
});

test('a gateway that is not there is named, not thrown', async () => {
  expect(await helmTest('http://127.0.0.1:1')).toContain('FAILED the gateway is healthy: 0');
});
