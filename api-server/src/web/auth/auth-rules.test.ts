import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../config/config.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { as, SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import type { PageAuth } from './page-auth.ts';

/** The rules of Orchestration 5, one after the other; the table of roles is walked in roles.test.ts. */

function load(text: string): LoadedConfig {
  const dir = mkdtempSync(join(tmpdir(), 'auth-'));
  try {
    writeFileSync(join(dir, 'config.yaml'), text);
    return loadConfig(join(dir, 'config.yaml'), {});
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function loaded(text: string): { config: Config; warnings: string[] } {
  const result = load(text);
  if (!result.ok) throw new Error(result.message);
  return result;
}

const pages = async (app: FastifyInstance, auth: PageAuth) => {
  app.post('/ui/login', (request, reply) => {
    const { token = '', remember } = request.body as Record<string, string>;
    return reply.code(auth.logIn(request, reply, { token, remember: remember === '1' }) ? 200 : 401).send('');
  });
  app.get('/ui/', (request) => auth.viewer(request));
};

async function serving(options: Parameters<typeof startTestServer>[0], use: (server: TestServer) => Promise<void>) {
  const server = await startTestServer({ ...options, deps: { pages, ...options?.deps } });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const hook = ({ app }: TestServer, headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: '/webhook', payload: {}, headers });

test('rule 1: without tokens the service starts only with auth.allow_unauthenticated', () => {
  expect(load('auth: {}')).toMatchObject({ ok: false, message: expect.stringContaining('auth.tokens: is empty') });
  expect(loaded('auth: {allow_unauthenticated: true}').config.auth.tokens).toEqual([]);
});

describe('rule 1: auth.allow_unauthenticated warns at every start while it is set', () => {
  test.each([
    'auth: {allow_unauthenticated: true}',
    'auth: {allow_unauthenticated: true, tokens: [{name: a, token: x, role: admin}]}',
  ])('%s', (text) => {
    const said = 'auth.allow_unauthenticated is true: the API and the UI need no token';
    expect(loaded(text).warnings).toContain(said);
    expect(loaded(text).warnings).toContain(said);
  });
});

test.each(['admin', 'operator', 'viewer'])('rule 2: a team on a token of role %s ends the start', (role) => {
  expect(load(`auth: {tokens: [{name: a, token: x, role: ${role}, team: t}]}`)).toMatchObject({
    ok: false,
    message: expect.stringContaining('auth.tokens[0].team: is only valid on a webhook token'),
  });
});

test('rules 3 and 5: a run has the team of the webhook token, and none where the token has none', () => {
  const { auth } = loaded(
    'auth: {tokens: [{name: a, token: x, role: webhook, team: shop}, {name: b, token: y, role: webhook}]}',
  ).config;
  return serving({ auth }, async (server) => {
    for (const token of ['x', 'y']) expect((await hook(server, bearer(token))).statusCode).toBe(202);
    expect(server.deliveries.map(({ team }) => team)).toEqual(['shop', null]);
  });
});

describe('rule 4: the deprecated forms', () => {
  test('auth.teams and auth.token are webhook tokens, with a warning each', () => {
    const { config, warnings } = loaded('auth: {teams: [{name: shop, token: s1}], token: s2}');
    expect(warnings).toEqual([
      'auth.teams is deprecated; use auth.tokens',
      'auth.token is deprecated; use auth.tokens',
    ]);
    return serving({ auth: config.auth }, async (server) => {
      for (const token of ['s1', 's2']) expect((await hook(server, bearer(token))).statusCode).toBe(202);
      expect(server.deliveries.map(({ team }) => team)).toEqual(['shop', null]);
      expect((await server.app.inject({ url: '/runs', headers: bearer('s1') })).statusCode).toBe(403);
    });
  });

  test.each(['tokens: [{name: a, token: x, role: webhook}]'])('lose against auth.tokens', (tokens) => {
    const { config, warnings } = loaded(`auth: {teams: [{name: shop, token: s1}], token: s2, ${tokens}}`);
    expect(warnings).toEqual([
      'auth.teams is ignored because auth.tokens is set',
      'auth.token is ignored because auth.tokens is set',
    ]);
    return serving({ auth: config.auth }, async (server) => {
      for (const token of ['s1', 's2']) expect((await hook(server, bearer(token))).statusCode).toBe(401);
    });
  });

  test('an empty auth.tokens is set too', () => {
    expect(load('auth: {tokens: [], token: s2}').ok).toBe(false);
  });
});

test('rule 5: manual runs are unattributed', () =>
  serving({}, async (server) => {
    await server.app.inject({ method: 'POST', url: '/pipelines/checkout/run', payload: {}, headers: as('operator') });
    expect(server.deliveries).toMatchObject([{ team: null, forcedPipeline: 'checkout' }]);
  }));

describe('rule 6: the Secure flag', () => {
  const secure = async ({ app }: TestServer, remoteAddress: string, headers: Record<string, string>) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = `token=${SECRETS.viewer}`;
    const request = { method: 'POST' as const, url: '/ui/login', payload, remoteAddress };
    const answer = await app.inject({ ...request, headers: { ...form, ...headers } });
    return String(answer.headers['set-cookie']).includes('; Secure');
  };
  const https = { 'x-forwarded-proto': 'https' };

  test.each([
    ['10.1.2.3', '10.1.2.3', https, true],
    ['10.1.2.3', '10.1.2.4', https, false],
    ['10.0.0.0/8', '10.255.0.1', https, true],
    ['10.0.0.0/8', '11.0.0.1', https, false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', https, true],
    ['2001:db8::/32', '2001:db8:5::1', https, true],
    ['2001:db8::/32', '2001:db9::1', https, false],
    ['*', '203.0.113.9', https, true],
    ['10.0.0.0/8', '10.0.0.1', {}, false],
    ['10.0.0.0/8', '10.0.0.1', { 'x-forwarded-proto': 'http' }, false],
    // What the caller wrote stands before what the proxy added.
    ['10.0.0.0/8', '10.0.0.1', { 'x-forwarded-proto': 'https, http' }, false],
    ['10.0.0.0/8', '10.0.0.1', { 'x-forwarded-proto': 'http, https' }, true],
  ] as const)('with %s trusted, from %s with %o: %s', (allowed, from, headers, expected) =>
    serving({ server: { forwardedAllowIps: [allowed] } }, async (server) => {
      expect(await secure(server, from, { ...headers })).toBe(expected);
    }),
  );

  test('trusts 127.0.0.1 by default and warns of *', () => {
    const tokens = 'auth: {tokens: [{name: a, token: x, role: admin}]}\n';
    expect(loaded(tokens).config.server.forwardedAllowIps).toEqual(['127.0.0.1']);
    expect(loaded(`${tokens}server: {forwarded_allow_ips: "*"}`).warnings.join()).toContain(
      'server.forwarded_allow_ips is *',
    );
  });
});

test('rule 6: the cookie has name, role and team, no secret, and a change of one byte makes it worthless', () =>
  serving({}, async ({ app }) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/ui/login',
      payload: `token=${SECRETS.operator}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const value = String(answer.headers['set-cookie']).split(';')[0]?.slice('service_session='.length) ?? '';
    const told = Buffer.from(value.split('.')[0] ?? '', 'base64url').toString();
    expect(JSON.parse(told)).toMatchObject({ name: 'the-operator', role: 'operator', team: null });
    expect(told).not.toContain(SECRETS.operator);
    const statusOf = async (cookie: string) =>
      (await app.inject({ url: '/ui/', headers: { cookie: `service_session=${cookie}` } })).statusCode;
    expect(await statusOf(value)).toBe(200);
    for (const at of [0, 20, value.length - 2]) {
      const changed = value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1);
      expect(await statusOf(changed)).toBe(303);
    }
    const [payload = ''] = value.split('.');
    const promoted = Buffer.from(told.replace('"operator"', '"admin"')).toString('base64url');
    for (const forged of [payload, `${payload}.`, `${promoted}.${value.split('.')[1]}`, `${value}.x`.repeat(50)])
      expect(await statusOf(forged)).toBe(303);
  }));

test('rule 9: a token of 48 hexadecimal signs is taken, and so is any other text', () => {
  const hex = 'a1'.repeat(24);
  const { auth } = loaded(
    `auth: {tokens: [{name: a, token: ${hex}, role: viewer}, {name: b, token: "ü ö", role: viewer}]}`,
  ).config;
  return serving({ auth }, async ({ app }) => {
    expect((await app.inject({ url: '/runs', headers: bearer(hex) })).statusCode).toBe(200);
    expect((await app.inject({ url: '/runs', headers: bearer(hex.toUpperCase()) })).statusCode).toBe(401);
  });
});

test('auth.session_max_age_seconds and auth.session_max_age_remembered_seconds: the lifetime of a cookie', () =>
  serving({ auth: { sessionMaxAgeSeconds: 61, sessionMaxAgeRememberedSeconds: 99 } }, async ({ app }) => {
    for (const [remember, seconds] of [
      ['', 61],
      ['&remember=1', 99],
    ] as const) {
      const answer = await app.inject({
        method: 'POST',
        url: '/ui/login',
        payload: `token=${SECRETS.viewer}${remember}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(String(answer.headers['set-cookie'])).toContain(`; Max-Age=${seconds};`);
    }
  }));
