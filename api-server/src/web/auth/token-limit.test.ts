import { expect, test } from 'vitest';
import { startTestServer } from '../fixtures/server.ts';
import { createTokenLimit } from './token-limit.ts';

test('a limit holds for its minute or day in UTC, and begins again with the next', () => {
  let now = 90_000;
  const limit = createTokenLimit({ rateLimit: 2, dailyBytes: 100 }, () => now);
  expect([limit?.take(10), limit?.take(10)]).toEqual([null, null]);
  expect(limit?.take(10)).toEqual({ over: '2 deliveries a minute', waitSeconds: 30 });
  now = 120_000;
  expect(limit?.take(80)).toBeNull();
  expect(limit?.take(1)).toEqual({ over: '100 bytes a day', waitSeconds: 86_280 });
  now = 86_400_000;
  expect(limit?.take(100)).toBeNull();
  expect(createTokenLimit({}, () => now)).toBeNull();
});

test('over its limit a token gets 429 with the time to wait, before its body is read, and no other token does', async () => {
  const entry = (name: string, more = {}) => ({
    name,
    token: `${name}-token`,
    role: 'webhook' as const,
    team: null,
    ...more,
  });
  const tokens = [entry('noisy', { rateLimit: 2 }), entry('large', { dailyBytes: 60 }), entry('calm')];
  const server = await startTestServer({ auth: { tokens } });
  try {
    const deliver = (name: string, payload: string) =>
      server.app.inject({
        method: 'POST',
        url: '/webhook',
        headers: { authorization: `Bearer ${name}-token`, 'content-type': 'application/json' },
        payload,
      });
    for (let count = 0; count < 2; count++) expect((await deliver('noisy', '{}')).statusCode).not.toBe(429);
    const over = await deliver('noisy', 'not even JSON');
    expect([over.statusCode, over.json()]).toMatchObject([429, { detail: { type: 'rate_limited' } }]);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect((await deliver('large', JSON.stringify({ summary: 'x'.repeat(100) }))).statusCode).toBe(429);
    expect((await deliver('calm', '{}')).statusCode).not.toBe(429);
  } finally {
    await server.close();
  }
});
