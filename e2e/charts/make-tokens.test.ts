import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../support/start-service.ts';

const ROLES = ['admin', 'operator', 'viewer', 'webhook', 'reload'];
const SCOPES = ['gateway-admin', 'gateway-invoke', 'gateway-approve', 'gateway-reload'];
const TOKENS = [...ROLES, ...SCOPES].map((name) => `${name}-token`);
const ALL = [...TOKENS, 'session-secret'].toSorted();

interface Secret {
  metadata: { name: string; resourceVersion: string; labels?: Record<string, string> };
  data: Record<string, string>;
}

/** As much of an API server as the script asks: one Secret, with conflicts where a version is not the newest. */
let secret: Secret | null = null;
let asked: string[] = [];
let faults: number[] = [];
let server: Server;
let env: Record<string, string>;

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((sent) => {
      const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
      asked.push(`${request.method} ${request.headers.authorization}`);
      const fault = faults.shift();
      if (fault) return answer(fault, { message: 'a fault' });
      const body = (sent === '' ? {} : JSON.parse(sent)) as {
        metadata: Secret['metadata'];
        stringData: Record<string, string>;
      };
      const encoded = Object.entries(body.stringData ?? {}).map(([key, value]) => [
        key,
        Buffer.from(value).toString('base64'),
      ]);
      if (request.method === 'GET') return secret ? answer(200, secret) : answer(404, { message: 'not found' });
      if (request.method === 'POST') {
        secret = { metadata: { ...body.metadata, resourceVersion: '1' }, data: Object.fromEntries(encoded) };
        return answer(201, secret);
      }
      if (secret === null || body.metadata.resourceVersion !== secret.metadata.resourceVersion)
        return answer(409, { message: 'conflict' });
      secret = {
        metadata: { ...secret.metadata, resourceVersion: '2' },
        data: { ...secret.data, ...Object.fromEntries(encoded) },
      };
      return answer(200, secret);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const account = mkdtempSync(join(tmpdir(), 'account-'));
  writeFileSync(join(account, 'namespace'), 'ops\n');
  writeFileSync(join(account, 'token'), 'of-the-account\n');
  env = {
    KUBERNETES_API: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ACCOUNT_DIR: account,
    SECRET_NAME: 'sb-tokens',
  };
});
afterAll(() => void server.close());
beforeEach(() => {
  secret = null;
  asked = [];
  faults = [];
});

async function makeTokens(): Promise<string> {
  const script = join(ROOT, 'charts/signalbox/files/make-tokens.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  return stdout;
}

const decoded = (key: string) => Buffer.from(secret?.data[key] ?? '', 'base64').toString('utf8');

test('makes every key once, long and different, and a second run changes nothing', async () => {
  const said = await makeTokens();
  expect(Object.keys(secret?.data ?? {}).toSorted()).toEqual(ALL);
  const tokens = ALL.map(decoded);
  expect(new Set(tokens).size).toBe(tokens.length);
  for (const token of tokens) {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(said).not.toContain(token);
  }
  // A label by which Argo CD tells what is its own would make it prune the Secret.
  expect(secret?.metadata.labels).toEqual({ 'app.kubernetes.io/part-of': 'signalbox' });
  const before = structuredClone(secret);
  await makeTokens();
  expect(secret).toEqual(before);
  expect(asked.at(-1)).toBe('GET Bearer of-the-account');
});

test('adds what is missing and keeps what is there', async () => {
  secret = { metadata: { name: 'sb-tokens', resourceVersion: '1' }, data: { 'admin-token': 'a2VwdA==' } };
  await makeTokens();
  expect(decoded('admin-token')).toBe('kept');
  expect(Object.keys(secret.data).toSorted()).toEqual(ALL);
});

test('rights that come late, and somebody who was faster, are waited for', async () => {
  faults = [403, 0, 409];
  await makeTokens();
  expect(Object.keys(secret?.data ?? {}).toSorted()).toEqual(ALL);
});
