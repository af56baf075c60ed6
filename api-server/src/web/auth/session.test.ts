import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW, runIdOf } from '../fixtures/store.ts';
import type { PageAuth } from './page-auth.ts';
import { endedSessions } from '../../store/tables/ended-sessions.ts';
import type { RegisterPages } from './ui-scope.ts';

/** Pages small enough to show the rules: a login, a page that tells who is there, a form that changes something. */
const pages =
  (seen: string[]): RegisterPages =>
  async (app: FastifyInstance, auth: PageAuth) => {
    app.post('/ui/login', (request, reply) => {
      const { token = '', remember } = request.body as Record<string, string>;
      return auth.logIn(request, reply, { token, remember: remember === '1' })
        ? reply.redirect('/ui/', 303)
        : reply.code(401).send('no');
    });
    app.post('/ui/logout', async (request, reply) => {
      await auth.logOut(request, reply);
      return reply.redirect('/ui/login', 303);
    });
    app.get('/ui/login', () => 'login');
    app.get('/ui/', (request) => auth.viewer(request));
    app.post('/ui/change', (request) => {
      seen.push(request.caller.name);
      return 'changed';
    });
  };

let server: TestServer;
let now = NOW;
const changes: string[] = [];
const form = { 'content-type': 'application/x-www-form-urlencoded', host: 'signalbox.test' };

beforeAll(async () => {
  server = await startTestServer({ deps: { pages: pages(changes), now: () => now } });
  await server.store.addRun(1);
});
afterAll(() => server.close());

async function logIn(
  on: TestServer,
  role: keyof typeof SECRETS,
  extra: { remember?: boolean; headers?: Record<string, string> } = {},
) {
  const payload = `token=${SECRETS[role]}${extra.remember ? '&remember=1' : ''}`;
  const response = await on.app.inject({
    method: 'POST',
    url: '/ui/login',
    payload,
    headers: { ...form, ...extra.headers },
  });
  const [cookie = ''] = String(response.headers['set-cookie'] ?? '').split(';');
  return { response, cookie };
}
const page = (cookie: string, on = server) => on.app.inject({ url: '/ui/', headers: { cookie } });
const csrfOf = async (cookie: string) => (await page(cookie)).json().csrf as string;

test('a login sets a cookie that scripts cannot read, for the pages only', async () => {
  const { response, cookie } = await logIn(server, 'viewer');
  expect(response.statusCode).toBe(303);
  const header = String(response.headers['set-cookie']);
  expect(header).toMatch(/^service_session=[^;]+; Max-Age=28800; Path=\/ui; HttpOnly; SameSite=Lax$/);
  expect(Buffer.from(cookie.split('=')[1] ?? '', 'base64url').toString()).not.toContain(SECRETS.viewer);
  expect((await page(cookie)).json()).toMatchObject({ name: 'the-viewer', role: 'viewer' });
});

test('remembered sessions live longer', async () => {
  const { response } = await logIn(server, 'viewer', { remember: true });
  expect(String(response.headers['set-cookie'])).toContain('Max-Age=2592000;');
});

describe('the cookie is Secure', () => {
  test('behind a trusted proxy that says https', async () => {
    const { response } = await logIn(server, 'viewer', { headers: { 'x-forwarded-proto': 'https' } });
    expect(String(response.headers['set-cookie'])).toContain('; Secure');
  });
  test('not on the word of anybody else', async () => {
    const strict = await startTestServer({ deps: { pages: pages([]) }, server: { forwardedAllowIps: ['10.0.0.0/8'] } });
    try {
      const { response } = await logIn(strict, 'viewer', { headers: { 'x-forwarded-proto': 'https' } });
      expect(String(response.headers['set-cookie'])).not.toContain('Secure');
    } finally {
      await strict.close();
    }
  });
});

test('a webhook token and an unknown one cannot log in', async () => {
  expect((await logIn(server, 'webhook')).response.statusCode).toBe(401);
  const unknown = await server.app.inject({ method: 'POST', url: '/ui/login', payload: 'token=none', headers: form });
  expect(unknown.headers['set-cookie']).toBeUndefined();
});

test('without a session pages send to the login, the stream and the API answer 401', async () => {
  const redirect = await server.app.inject('/ui/?a=1');
  expect([redirect.statusCode, redirect.headers.location]).toEqual([303, '/ui/login?next=%2Fui%2F%3Fa%3D1']);
  expect((await server.app.inject({ url: '/ui/nothing' })).statusCode).toBe(303);
  expect((await server.app.inject({ url: '/ui/', headers: { cookie: 'service_session=forged.x' } })).statusCode).toBe(
    303,
  );
  const stream = await server.app.inject(`/ui/runs/${runIdOf(1)}/stream`);
  expect([stream.statusCode, stream.json().detail.type]).toEqual([401, 'unauthorized']);
  expect((await server.app.inject({ method: 'POST', url: '/ui/change', headers: form })).statusCode).toBe(401);
});

test('a browser at the bare address is sent to the pages, a program hears what it always hears', async () => {
  const at = (accept: string) => server.app.inject({ url: '/', headers: { accept } });
  const browser = await at('text/html,application/xhtml+xml,*/*;q=0.8');
  expect([browser.statusCode, browser.headers.location]).toEqual([303, '/ui/']);
  expect((await at('*/*')).statusCode).toBe(401);
});

test('a session opens pages and the stream, never the JSON routes', async () => {
  const { cookie } = await logIn(server, 'admin');
  expect((await server.app.inject({ url: '/runs', headers: { cookie } })).statusCode).toBe(401);
  expect((await server.app.inject({ method: 'POST', url: '/reload', headers: { cookie } })).statusCode).toBe(401);
});

describe('a posted form', () => {
  const post = (cookie: string, csrf: string, headers: Record<string, string> = {}) =>
    server.app.inject({
      method: 'POST',
      url: '/ui/change',
      payload: `_csrf=${csrf}`,
      headers: { ...form, cookie, ...headers },
    });

  test('is taken with the token of its own session', async () => {
    const { cookie } = await logIn(server, 'operator');
    expect((await post(cookie, await csrfOf(cookie))).body).toBe('changed');
    expect((await post(cookie, '', { 'x-csrf-token': await csrfOf(cookie) })).body).toBe('changed');
    expect((await post(cookie, await csrfOf(cookie), { origin: 'http://signalbox.test' })).body).toBe('changed');
    expect(changes).toEqual(['the-operator', 'the-operator', 'the-operator']);
  });

  test('is refused without a token, with that of another session, or from another site', async () => {
    const before = changes.length;
    const { cookie } = await logIn(server, 'operator');
    const other = await logIn(server, 'operator');
    const csrf = await csrfOf(cookie);
    const refused = [
      await post(cookie, ''),
      await post(cookie, await csrfOf(other.cookie)),
      await post(cookie, csrf, { origin: 'https://evil.test' }),
      await post(cookie, csrf, { origin: 'null' }),
      await post(cookie, csrf, { 'sec-fetch-site': 'cross-site' }),
    ];
    expect(refused.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403, 403, 403]);
    expect(changes).toHaveLength(before);
  });

  test('needs the role too', async () => {
    const { cookie } = await logIn(server, 'viewer');
    expect((await post(cookie, await csrfOf(cookie))).statusCode).toBe(403);
  });

  test('a login form from another site is refused', async () => {
    const { response } = await logIn(server, 'viewer', { headers: { origin: 'https://evil.test' } });
    expect(response.statusCode).toBe(403);
  });
});

describe('a session ends', () => {
  test('when its time is over', async () => {
    const { cookie } = await logIn(server, 'viewer');
    now += 28_801_000;
    expect((await page(cookie)).statusCode).toBe(303);
    now = NOW;
    expect((await page(cookie)).statusCode).toBe(200);
  });

  test.each([
    ['is gone', []],
    ['was changed', [{ name: 'the-viewer', token: 'another', role: 'viewer', team: null }]],
    ['got another role', [{ name: 'the-viewer', token: SECRETS.viewer, role: 'admin', team: null }]],
  ] as const)('when its token %s', async (_, tokens) => {
    const { cookie } = await logIn(server, 'viewer');
    const restarted = await startTestServer({ deps: { pages: pages([]) }, auth: { tokens: [...tokens] } });
    try {
      expect((await page(cookie, restarted)).statusCode).toBe(303);
    } finally {
      await restarted.close();
    }
  });

  test('with the process where no session_secret is set, and survives it where one is', async () => {
    const { cookie } = await logIn(server, 'viewer');
    const same = await startTestServer({ deps: { pages: pages([]) } });
    const random = await startTestServer({ deps: { pages: pages([]) }, auth: { sessionSecret: null } });
    try {
      expect((await page(cookie, same)).statusCode).toBe(200);
      expect((await page(cookie, random)).statusCode).toBe(303);
    } finally {
      await same.close();
      await random.close();
    }
  });

  test('at logout, for whoever kept the cookie too, and no other session of the same token', async () => {
    const { cookie } = await logIn(server, 'operator');
    const other = await logIn(server, 'operator');
    const csrf = await csrfOf(cookie);
    const post = (url: string) =>
      server.app.inject({ method: 'POST', url, payload: `_csrf=${csrf}`, headers: { ...form, cookie } });
    const response = await post('/ui/logout');
    expect(String(response.headers['set-cookie'])).toMatch(/^service_session=; Max-Age=0/);
    const stream = { url: `/ui/runs/${runIdOf(1)}/stream`, headers: { cookie } };
    expect((await page(cookie)).statusCode).toBe(303);
    expect((await server.app.inject(stream)).statusCode).toBe(401);
    expect((await post('/ui/change')).statusCode).toBe(401);
    expect((await page(other.cookie)).statusCode).toBe(200);
  });

  test('at logout on every replica, and stays ended after a restart', async () => {
    const { cookie } = await logIn(server, 'viewer');
    const { database } = server.store;
    const beside = await startTestServer({
      deps: { pages: pages([]), endedSessions: endedSessions(database, () => NOW) },
    });
    try {
      expect((await page(cookie, beside)).statusCode).toBe(200);
      const payload = `_csrf=${await csrfOf(cookie)}`;
      await server.app.inject({ method: 'POST', url: '/ui/logout', payload, headers: { ...form, cookie } });
      expect((await page(cookie, beside)).statusCode).toBe(303);
    } finally {
      await beside.close();
    }
  });
});

test('an open service shows pages to everybody, and still refuses forms of other sites', async () => {
  const open = await startTestServer({ deps: { pages: pages([]) }, auth: { allowUnauthenticated: true } });
  try {
    const { csrf } = (await open.app.inject('/ui/')).json();
    const post = (headers: object) =>
      open.app.inject({
        method: 'POST',
        url: '/ui/change',
        payload: `_csrf=${csrf}`,
        headers: { ...form, ...headers },
      });
    expect((await post({})).statusCode).toBe(200);
    expect((await post({ origin: 'https://evil.test' })).statusCode).toBe(403);
  } finally {
    await open.close();
  }
});
