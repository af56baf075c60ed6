import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TlsConfig } from '../config/config.ts';
import { createTestAuthority, type Pair, type TestAuthority } from './fixtures/certificates.ts';
import { SECRETS, startTestServer } from './fixtures/server.ts';
import { renewTls, tlsOptions } from './tls.ts';
import type { PageAuth } from './auth/page-auth.ts';

let ca: TestAuthority;
let stranger: TestAuthority;
let server: Pair;
beforeAll(() => {
  ca = createTestAuthority();
  stranger = createTestAuthority('somebody else');
  server = ca.issue('server');
});
afterAll(() => {
  ca.remove();
  stranger.remove();
});

const tlsOf = (pair: Pair, more: Partial<TlsConfig> = {}): TlsConfig => ({
  ...pair,
  keyPassword: null,
  clientCa: null,
  ...more,
});

interface Answer {
  status: number | undefined;
  cookie: string;
  servedBy: string;
}

function ask(app: FastifyInstance, options: RequestOptions & { body?: string } = {}): Promise<Answer> {
  const { port } = app.server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      { host: '127.0.0.1', port, path: '/health', agent: false, ca: readFileSync(ca.cert), ...options },
      (response) => {
        const servedBy = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
        const cookie = String(response.headers['set-cookie'] ?? '');
        response.resume().on('end', () => resolve({ status: response.statusCode, cookie, servedBy }));
      },
    );
    sent.on('error', reject).end(options.body);
  });
}

const pages = async (app: FastifyInstance, auth: PageAuth) => {
  app.post('/ui/login', (request, reply) => {
    const { token = '' } = request.body as Record<string, string>;
    return auth.logIn(request, reply, { token, remember: false });
  });
};

async function serving(tls: TlsConfig, use: (app: FastifyInstance) => Promise<void>): Promise<void> {
  const { app, close } = await startTestServer({ server: { tls }, deps: { pages } });
  try {
    await app.listen({ host: '127.0.0.1', port: 0 });
    await use(app);
  } finally {
    await close();
  }
}

const certificateOf = ({ cert, key }: Pair) => ({ cert: readFileSync(cert), key: readFileSync(key) });

test('server.tls.cert and .key: serves TLS that its authority vouches for', () =>
  serving(tlsOf(server), async (app) => {
    expect(await ask(app)).toMatchObject({ status: 200, servedBy: 'server' });
    await expect(ask(app, { ca: readFileSync(stranger.cert) })).rejects.toThrow(/certificate/);
  }));

test('server.tls.key_password: opens an encrypted key, and a wrong one ends the start naming the files', async () => {
  const pair = ca.issue('locked', { password: 'open sesame' });
  await serving(tlsOf(pair, { keyPassword: 'open sesame' }), async (app) => {
    expect(await ask(app)).toMatchObject({ status: 200, servedBy: 'locked' });
  });
  for (const keyPassword of [null, 'shut']) {
    expect(() => tlsOptions(tlsOf(pair, { keyPassword }))).toThrow(
      `server.tls: cannot be used (${pair.cert}, ${pair.key}): `,
    );
  }
});

test('server.tls.client_ca: mutual TLS lets in who has a certificate of it and nobody else', async () => {
  const client = ca.issue('client');
  await serving(tlsOf(server, { clientCa: ca.cert }), async (app) => {
    expect(await ask(app, certificateOf(client))).toMatchObject({ status: 200 });
    await expect(ask(app)).rejects.toThrow();
    await expect(ask(app, certificateOf(stranger.issue('client')))).rejects.toThrow();
  });
});

test('a file that is no certificate, and a key of another certificate, end the start naming the files', () => {
  const nonsense = join(ca.dir, 'nonsense.crt');
  writeFileSync(nonsense, 'x');
  const other = ca.issue('other');
  for (const pair of [
    { ...server, cert: nonsense },
    { ...server, key: other.key },
    { ...server, key: nonsense },
  ]) {
    expect(() => tlsOptions(tlsOf(pair))).toThrow(`server.tls: cannot be used (${pair.cert}, ${pair.key}): `);
  }
});

test('a renewed certificate is served without a restart, a broken one leaves what was', async () => {
  const live = { cert: join(ca.dir, 'live.crt'), key: join(ca.dir, 'live.key') };
  const install = (pair: Pair) => {
    copyFileSync(pair.cert, live.cert);
    copyFileSync(pair.key, live.key);
  };
  install(server);
  const tls = tlsOf(live, { clientCa: ca.cert });
  const client = certificateOf(ca.issue('client'));
  await serving(tls, async (app) => {
    expect((await ask(app, client)).servedBy).toBe('server');
    install(ca.issue('renewed'));
    renewTls(app, tls);
    expect((await ask(app, client)).servedBy).toBe('renewed');
    await expect(ask(app)).rejects.toThrow();
    writeFileSync(live.key, 'half a fi');
    expect(() => renewTls(app, tls)).toThrow(`server.tls: cannot be used (${live.cert}, ${live.key}, ${ca.cert}): `);
    expect((await ask(app, client)).servedBy).toBe('renewed');
  });
});

test('the session cookie is Secure where TLS ends in this process', () =>
  serving(tlsOf(server), async (app) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = `token=${SECRETS.viewer}`;
    const { cookie } = await ask(app, { method: 'POST', path: '/ui/login', headers, body });
    expect(cookie).toMatch(/^service_session=.*; HttpOnly; Secure; SameSite=Lax$/);
  }));
