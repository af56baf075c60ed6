import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { createLoginThrottle, MAX_ADDRESSES, TRIES_AN_ADDRESS, TRIES_IN_ALL, WINDOW_MS } from './login-throttle.ts';
import type { PageAuth } from './page-auth.ts';

describe('tries', () => {
  let now = 0;
  let throttle = createLoginThrottle(() => now);
  beforeEach(() => {
    now = 0;
    throttle = createLoginThrottle(() => now);
  });
  const spend = (address: string, count = TRIES_AN_ADDRESS) => {
    for (let at = 0; at < count; at++) throttle.take(address);
  };

  test('of an address end and come back with the next window', () => {
    spend('10.0.0.1');
    now = 60_000;
    expect(throttle.take('10.0.0.1')).toBe((WINDOW_MS - 60_000) / 1000);
    expect(throttle.take('10.0.0.2')).toBe(0);
    now = WINDOW_MS;
    expect(throttle.take('10.0.0.1')).toBe(0);
  });

  test('of one IPv6 network count together, however they are written', () => {
    spend('2001:db8:1:2::1');
    expect(throttle.take('2001:db8:1:2:ffff::9')).toBeGreaterThan(0);
    expect(throttle.take('2001:db8:1:3::1')).toBe(0);
    spend('::1');
    expect(throttle.take('0:0:0:0:0:0:0:1')).toBeGreaterThan(0);
  });

  test('of all addresses together have an end too', () => {
    for (let at = 0; at < TRIES_IN_ALL; at++) expect(throttle.take(`10.0.${at >> 8}.${at & 255}`)).toBe(0);
    expect(throttle.take('192.0.2.1')).toBe(WINDOW_MS / 1000);
  });

  test('that worked are given back, and no more than were taken', () => {
    for (let at = 0; at < 3 * TRIES_IN_ALL; at++) {
      expect(throttle.take('10.0.0.1')).toBe(0);
      throttle.giveBack('10.0.0.1');
    }
    throttle.giveBack('10.9.9.9');
  });

  test('are remembered for so many addresses and no more', () => {
    for (let at = 0; at < MAX_ADDRESSES + 500; at++) {
      now += WINDOW_MS / 100;
      throttle.take(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    }
    expect(throttle.size).toBe(MAX_ADDRESSES);
  });
});

describe('the login form', () => {
  let server: TestServer;
  const pages = async (app: FastifyInstance, auth: PageAuth) => {
    app.post('/ui/login', (request, reply) => {
      const { token = '' } = (request.body ?? {}) as Record<string, string>;
      return reply.code(auth.logIn(request, reply, { token, remember: false }) ? 303 : 401).send('');
    });
  };
  beforeEach(async () => {
    server = await startTestServer({ deps: { pages } });
  });
  afterEach(() => server.close());

  const logIn = (token: string, { from = '127.0.0.1', headers = {} }: { from?: string; headers?: object } = {}) =>
    server.app.inject({
      method: 'POST',
      url: '/ui/login',
      payload: `token=${token}`,
      remoteAddress: from,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const fail = async (options?: { from?: string; headers?: object }) => {
    for (let at = 0; at < TRIES_AN_ADDRESS; at++) expect((await logIn('guess', options)).statusCode).toBe(401);
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
    for (let at = 0; at < 2 * TRIES_AN_ADDRESS; at++) expect((await logIn(SECRETS.viewer)).statusCode).toBe(303);
  });

  test('holds under parallel guesses', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => logIn('guess')));
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(TRIES_AN_ADDRESS);
  });
});
