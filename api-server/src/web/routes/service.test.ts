import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { as, NO_DEFINITIONS, startTestServer, type TestServer } from '../fixtures/server.ts';

async function withServer(options: Parameters<typeof startTestServer>[0], use: (server: TestServer) => Promise<void>) {
  const server = await startTestServer(options);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

test('health depends on nothing', () =>
  withServer(
    {
      deps: {
        readiness: () => ({
          database: false,
          database_file: true,
          migrations: true,
          definitions: true,
          accepting: false,
        }),
      },
    },
    async ({ app }) => {
      expect((await app.inject('/health')).json()).toEqual({
        status: 'ok',
        version: '0.0.0-test',
        active_runs: 3,
        max_concurrent_runs: 10,
        warnings: [],
      });
      const ready = await app.inject('/ready');
      expect(ready.statusCode).toBe(503);
      expect(ready.json()).toEqual({
        detail: { type: 'unavailable', message: 'not ready: database, accepting', failing: ['database', 'accepting'] },
      });
    },
  ));

test('ready when everything is', () =>
  withServer({}, async ({ app }) => expect((await app.inject('/ready')).json()).toEqual({ status: 'ready' })));

test('a reload says what was loaded and is audited under the name of the token', () =>
  withServer({}, async ({ app, store }) => {
    const response = await app.inject({ method: 'POST', url: '/reload', headers: as('admin') });
    expect(response.json()).toEqual({ status: 'reloaded', pipelines_loaded: 0, errors: [], warnings: [] });
    expect(await store.database.db.selectFrom('audit').selectAll().execute()).toMatchObject([
      { actor: 'the-admin', role: 'admin', action: 'reload', outcome: 'reloaded' },
    ]);
    expect(await store.contents()).not.toContain('secret');
  }));

test('a reload that cannot read is 400 and audited too', () =>
  withServer(
    { deps: { reload: () => Promise.reject(new Error('EACCES /etc/secret-place')) } },
    async ({ app, store }) => {
      const response = await app.inject({ method: 'POST', url: '/reload', headers: as('admin') });
      expect([response.statusCode, response.json().detail.type]).toEqual([400, 'reload_failed']);
      expect(response.body).not.toContain('EACCES');
      expect(await store.database.db.selectFrom('audit').select('outcome').execute()).toEqual([{ outcome: 'failed' }]);
    },
  ));

test('definitions tell errors from warnings', () => {
  const problem = { kind: null, name: null, file: 'a.yaml', loc: [], msg: 'm', reason: 'invalid' as const };
  const problems = [
    { ...problem, severity: 'error' as const },
    { ...problem, severity: 'warning' as const },
  ];
  return withServer({ deps: { definitions: () => ({ ...NO_DEFINITIONS, shown: problems }) } }, async ({ app }) => {
    const body = (await app.inject({ url: '/definitions', headers: as('viewer') })).json();
    expect(body).toMatchObject({
      hash: 'none',
      definitions: [],
      errors: [{ severity: 'error' }],
      warnings: [{ severity: 'warning' }],
    });
  });
});

test('definitions come with the name of the pod, for the status of objects; nothing else does', () =>
  withServer({ server: { podName: 'api-server-1' } }, async ({ app }) => {
    const podOf = async (url: string) => (await app.inject({ url, headers: as('viewer') })).headers['x-signalbox-pod'];
    expect([await podOf('/definitions'), await podOf('/runs'), await podOf('/health')]).toEqual([
      'api-server-1',
      undefined,
      undefined,
    ]);
  }));

test('a failure of ours is a typed 500 without its reason, which goes to the log', () => {
  const out = new PassThrough();
  const deps = { log: pino(out), listAgents: () => Promise.reject(new Error('password=hunter2')) };
  return withServer({ deps }, async ({ app }) => {
    const response = await app.inject({ url: '/agents', headers: as('viewer') });
    expect(response.statusCode).toBe(500);
    expect(response.json()).toEqual({ detail: { type: 'internal', message: expect.any(String) } });
    expect(response.body).not.toContain('hunter2');
    expect(JSON.parse(String(out.read()))).toMatchObject({
      msg: 'request failed',
      request_id: response.headers['x-request-id'],
      route: '/agents',
    });
  });
});

test('HEAD answers like GET without a body, and 405 names what is possible', () =>
  withServer({}, async ({ app }) => {
    const head = await app.inject({ method: 'HEAD', url: '/health' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    const wrong = await app.inject({ method: 'DELETE', url: '/runs', headers: as('viewer') });
    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await app.inject({ method: 'DELETE', url: '/runs' })).statusCode).toBe(401);
  }));

test('the access log has the path without its query, and the caller behind a trusted proxy', () => {
  const out = new PassThrough();
  return withServer({ deps: { accessLog: pino(out) } }, async ({ app }) => {
    const forwarded = { 'x-forwarded-for': '203.0.113.9' };
    await app.inject({ url: '/runs?q=private', headers: { ...as('viewer'), ...forwarded } });
    expect(JSON.parse(String(out.read()))).toMatchObject({
      remote: '203.0.113.9',
      method: 'GET',
      path: '/runs',
      status: 200,
      actor: 'the-viewer',
    });
  });
});

test('the description has every route with its role and is made of plain JSON', () =>
  withServer({}, async ({ app }) => {
    const { paths, components } = (await app.inject({ url: '/openapi.json', headers: as('viewer') })).json();
    expect(paths['/runs/{id}/steps/{step_name}/feedback'].post).toMatchObject({ 'x-role': 'operator' });
    expect(paths['/runs'].get.parameters.map(({ name }: { name: string }) => name)).toContain('cursor');
    expect(paths['/health'].get.security).toEqual([]);
    const bodyOf = (path: string) => paths[path].post.requestBody;
    const keysOf = ({ properties }: { properties: object }) => Object.keys(properties);
    const schemaOf = (path: string) => resolved(bodyOf(path).content['application/json'].schema);
    const resolved = (schema: { $ref?: string }) => components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
    expect(schemaOf('/runs/{id}/feedback').required).toEqual(['outcome']);
    expect([bodyOf('/runs/{id}/rerun').required, keysOf(schemaOf('/runs/{id}/rerun'))]).toEqual([false, ['from_step']]);
    expect(keysOf(schemaOf('/pipelines/{name}/run'))).toContain('idempotency_key');
    const payloads = schemaOf('/webhook').anyOf as { title: string; required: string[] }[];
    expect(payloads.map(({ title, required }) => [title, required])).toEqual([
      ['generic', ['pipeline']],
      ['alert_router', ['alerts']],
    ]);
    expect(paths['/reload'].post.requestBody).toBeUndefined();
  }));

test('TLS ends here when a certificate is configured', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tls-'));
  const [cert, key] = [join(dir, 'server.crt'), join(dir, 'server.key')];
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-subj',
        '/CN=localhost',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    const broken = withServer({ server: { tls: { cert, key: cert, keyPassword: null, clientCa: null } } }, () =>
      Promise.resolve(),
    );
    await expect(broken).rejects.toThrow(`server.tls: cannot be used (${cert}, ${cert}): `);
    await withServer({ server: { tls: { cert, key, keyPassword: null, clientCa: null } } }, async ({ app }) => {
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as AddressInfo;
      const status = await new Promise((resolve, reject) => {
        get({ port, host: '127.0.0.1', path: '/health', rejectUnauthorized: false, agent: false }, (response) =>
          resolve(response.resume().statusCode),
        ).on('error', reject);
      });
      expect(status).toBe(200);
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
