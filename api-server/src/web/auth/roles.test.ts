import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { as, SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';
import { type Route } from '../route.ts';
import { routeTable, type RoutesDeps } from '../routes/index.ts';

type Role = keyof typeof SECRETS;

/** The role table of Orchestration 5, written down once more, by hand: first match wins. */
const SPEC: [pattern: RegExp, who: 'none' | 'webhook' | 'viewer' | 'operator' | 'admin' | 'reload'][] = [
  [/^GET \/(health|ready|favicon\.svg|metrics)$/, 'none'],
  [/^POST \/webhook$/, 'webhook'],
  [/^GET /, 'viewer'],
  [/^POST \/pipelines\/[^/]+\/promotion-readiness\/preview$/, 'viewer'],
  [/^POST \/pipelines\/[^/]+\/run$/, 'operator'],
  [/^POST \/runs\/[^/]+\/(cancel|rerun|acknowledge|resolve|reopen)$/, 'operator'],
  [/^POST \/runs\/bulk$/, 'operator'],
  [/^POST \/mcp$/, 'viewer'],
  [/^(POST|DELETE) \/runs\/[^/]+\/(steps\/.+\/)?feedback$/, 'operator'],
  [/^POST \/approvals\/[^/]+$/, 'operator'],
  [/^(POST|PATCH|DELETE) \/golden-sets(\/.*)?$/, 'operator'],
  [/^POST \/triggers\/preview$/, 'operator'],
  [/^POST \/notifications\/[^/]+\/(resend|dismiss)$/, 'operator'],
  [/^POST \/(steps|pipelines)\/[^/]+\/replay(\/estimate|\/start)?$/, 'operator'],
  [/^POST \/deliveries\/[^/]+\/redeliver$/, 'operator'],
  [/^(POST|PUT|DELETE) \/(pipelines|steps)(\/[^/]+)?$/, 'admin'],
  [/^POST \/pipelines\/[^/]+\/(suspend|resume)$/, 'admin'],
  [/^POST \/reload$/, 'reload'],
];

const MAY: Record<string, Role[]> = {
  none: ['admin', 'operator', 'viewer', 'webhook', 'reload'],
  webhook: ['webhook'],
  viewer: ['admin', 'operator', 'viewer'],
  operator: ['admin', 'operator'],
  admin: ['admin'],
  reload: ['reload', 'admin'],
};

let server: TestServer;
beforeAll(async () => {
  // Without safe agents a replay is forbidden to every role.
  server = await startTestServer({
    deps: { replaySettings: { safeAgents: ['gateway:a'], maxBatches: 4, judge: null } },
  });
});
afterAll(() => server.close());

const table: Route[] = routeTable({ services: {}, metricsAuth: false, version: 'x' } as RoutesDeps).routes;
const concrete = (url: string) =>
  url
    .replaceAll(/:(id|member_id|a|b)\b/g, runIdOf(1))
    .replace(/:(step_)?name/, 'checkout')
    .replace('*', 'look%2F1/feedback');

describe.each(table.map((route) => ({ name: `${route.method} ${route.url}`, route })))('$name', ({ route }) => {
  const url = concrete(route.url);
  const needed = SPEC.find(([pattern]) => pattern.test(`${route.method} ${url}`))?.[1];
  const ask = (headers: Record<string, string>) => server.app.inject({ method: route.method, url, headers });

  test('is in the role table', () => expect(needed).toBeDefined());

  test('without a token', async () => {
    const answer = await ask({});
    if (needed === 'none') return expect(answer.statusCode).toBe(200);
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toMatchObject({ detail: { type: 'unauthorized' } });
  });

  test('with an unknown token', async () => {
    const answer = await ask({ authorization: 'Bearer nobody' });
    expect(answer.statusCode).toBe(needed === 'none' ? 200 : 401);
  });

  test.each(Object.keys(SECRETS) as Role[])('as %s', async (role) => {
    const answer = await ask(as(role));
    const allowed = MAY[needed ?? 'admin']?.includes(role) ?? false;
    if (allowed) return expect([401, 403]).not.toContain(answer.statusCode);
    expect(answer.statusCode).toBe(403);
    const named = needed === 'reload' ? 'admin or reload' : needed;
    const message = `this requires a token with the role ${named}`;
    expect(answer.json()).toEqual({ detail: { type: 'forbidden', message } });
  });
});

test('metrics need a viewer when auth.metrics_auth is set', async () => {
  const guarded = await startTestServer({ auth: { metricsAuth: true } });
  try {
    expect((await guarded.app.inject('/metrics')).statusCode).toBe(401);
    expect((await guarded.app.inject({ url: '/metrics', headers: as('webhook') })).statusCode).toBe(403);
    expect((await guarded.app.inject({ url: '/metrics', headers: as('viewer') })).statusCode).toBe(200);
  } finally {
    await guarded.close();
  }
});

test('an open service takes everybody, and still knows the team of a webhook token', async () => {
  const open = await startTestServer({ auth: { allowUnauthenticated: true } });
  try {
    expect((await open.app.inject({ method: 'POST', url: '/reload' })).statusCode).toBe(200);
    await open.app.inject({ method: 'POST', url: '/webhook', payload: {} });
    await open.app.inject({ method: 'POST', url: '/webhook', payload: {}, headers: as('webhook') });
    expect(open.deliveries.map(({ team }) => team)).toEqual([null, 'payments']);
  } finally {
    await open.close();
  }
});

test('refusals are counted by reason', async () => {
  const counted = await startTestServer();
  try {
    await counted.app.inject('/runs');
    await counted.app.inject({ url: '/runs', headers: { authorization: 'Basic eA==' } });
    await counted.app.inject({ url: '/runs', headers: as('webhook') });
    const text = (await counted.app.inject('/metrics')).body;
    for (const reason of ['missing', 'invalid', 'forbidden'])
      expect(text).toContain(`service_auth_failures_total{reason="${reason}"} 1\n`);
  } finally {
    await counted.close();
  }
});
