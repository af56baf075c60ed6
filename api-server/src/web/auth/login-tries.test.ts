import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeDeps } from '../pages/fixtures/fake-deps.ts';
import { registerPages } from '../pages/pages.ts';
import { SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import type { PageAuth } from './page-auth.ts';
import { MAX_TRIES, WINDOW_MS } from './ui-scope.ts';

describe('the login form', () => {
  let server: TestServer;
  const pages = async (app: FastifyInstance, auth: PageAuth) => {
    app.post('/ui/login', (request, reply) => {
      const { token = '' } = (request.body ?? {}) as Record<string, string>;
      return reply.code(auth.logIn(request, reply, { token, remember: false }) ? 303 : 401).send('');
    });
  };
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    server = await startTestServer({ deps: { pages } });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await server.close();
  });

  const logIn = (token: string, { from = '127.0.0.1', headers = {} }: { from?: string; headers?: object } = {}) =>
    server.app.inject({
      method: 'POST',
      url: '/ui/login',
      payload: `token=${token}`,
      remoteAddress: from,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const fail = async (options?: { from?: string; headers?: object }) => {
    for (let at = 0; at < MAX_TRIES; at++) expect((await logIn('guess', options)).statusCode).toBe(401);
  };

  test('answers 429 rate_limited with Retry-After after too many failures, even to the right token', async () => {
    await fail();
    const refused = await logIn(SECRETS.viewer);
    expect(refused.statusCode).toBe(429);
    expect(refused.json().detail).toMatchObject({
      type: 'rate_limited',
      message: expect.stringContaining('try again in'),
    });
    expect(refused.headers['retry-after']).toBe('300');
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect((await logIn(SECRETS.viewer, { from: '192.0.2.7' })).statusCode).toBe(303);
  });

  test('counts by the address that a trusted proxy names, not by the word of anybody else', async () => {
    await fail({ headers: { 'x-forwarded-for': '198.51.100.1' } });
    expect((await logIn('x', { headers: { 'x-forwarded-for': '198.51.100.1' } })).statusCode).toBe(429);
    expect((await logIn('x', { headers: { 'x-forwarded-for': '198.51.100.2' } })).statusCode).toBe(401);
    await fail({ from: '203.0.113.5' });
    const lied = await logIn('x', { from: '203.0.113.5', headers: { 'x-forwarded-for': '198.51.100.3' } });
    expect(lied.statusCode).toBe(429);
  });

  test('is not slowed down by logins that work', async () => {
    for (let at = 0; at < 2 * MAX_TRIES; at++) expect((await logIn(SECRETS.viewer)).statusCode).toBe(303);
  });

  test('says on a page of its own when to try again', async () => {
    const real = await startTestServer({
      deps: { pages: (app, auth) => registerPages(app, { ...fakeDeps(), auth }) },
    });
    onTestFinished(() => real.close());
    const post = () =>
      real.app.inject({
        method: 'POST',
        url: '/ui/login',
        payload: 'token=guess',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      });
    for (let at = 0; at < MAX_TRIES; at++) expect((await post()).statusCode).toBe(401);
    const { statusCode, headers, body } = await post();
    expect([statusCode, headers['retry-after']]).toEqual([429, '300']);
    expect(body).toContain('Too many failed logins');
    expect(body).toContain('Try again in 5 m 00 s.');
  });

  test('takes tries again when the time is over', async () => {
    await fail();
    vi.setSystemTime(Date.now() + WINDOW_MS - 1);
    expect((await logIn(SECRETS.viewer)).statusCode).toBe(429);
    vi.setSystemTime(Date.now() + 1);
    expect((await logIn(SECRETS.viewer)).statusCode).toBe(303);
  });

  test('counts one IPv6 network together, however its addresses are written', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    await fail(from('2001:db8:1:2::1'));
    expect((await logIn('x', from('2001:0db8:1:2:ffff::9'))).statusCode).toBe(429);
    expect((await logIn('x', from('2001:db8:1:3::1'))).statusCode).toBe(401);
  });

  test('counts what a proxy forwards that is no address as the proxy', async () => {
    await fail({ headers: { 'x-forwarded-for': 'unknown' } });
    expect((await logIn('x', { headers: { 'x-forwarded-for': 'another' } })).statusCode).toBe(429);
  });

  test('never closes for everyone, however many addresses guess', async () => {
    for (let at = 0; at < 40; at++) await fail({ from: `10.0.0.${at}` });
    expect((await logIn(SECRETS.viewer, { from: '10.0.1.1' })).statusCode).toBe(303);
  });

  test('refuses an address that guesses in parallel, and lets the others in', async () => {
    await Promise.all(Array.from({ length: 50 }, () => logIn('guess')));
    expect((await logIn(SECRETS.viewer)).statusCode).toBe(429);
    expect((await logIn(SECRETS.viewer, { from: '192.0.2.7' })).statusCode).toBe(303);
  });
});
