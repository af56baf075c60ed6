import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
let before: string;
const RUN = runIdOf(1);

beforeAll(async () => {
  server = await startTestServer();
  await server.store.addRun(1);
  await server.store.addStep(RUN, 'look/1');
  before = await server.store.contents();
});
afterAll(() => server.close());

interface Case {
  name: string;
  request: InjectOptions;
  expected: [status: number, type: string];
}

const VALIDATION: [number, string] = [400, 'validation'];
const NOT_FOUND: [number, string] = [404, 'not_found'];
const json = { 'content-type': 'application/json' };
const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);

/** Bodies that no route may take, as (name, payload, expected). */
const BODIES: [string, string | Buffer, [number, string]][] = [
  ['cut off', '{"a":', VALIDATION],
  ['not JSON', 'pipeline: x', VALIDATION],
  ['two values', '{} {}', VALIDATION],
  ['trailing comma', '{"a":1,}', VALIDATION],
  ['a byte order mark', '\ufeff{}', VALIDATION],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), VALIDATION],
  ['65 lists deep', nested(65), VALIDATION],
  ['65 objects deep', nested(64, '{"a":', '}').replace(':}', ':{"a":1}}'), VALIDATION],
  ['30,000 lists deep', nested(30_000), VALIDATION],
  ['deep and cut off', '['.repeat(30_000), VALIDATION],
  ['__proto__', '{"__proto__":{"admin":true}}', VALIDATION],
  ['__proto__ inside', '{"a":[{"__proto__":1}]}', VALIDATION],
  ['__proto__ with escapes', '{"\\u005f_proto__":1}', VALIDATION],
  ['constructor.prototype', '{"constructor":{"prototype":{"x":1}}}', VALIDATION],
  ['too large', `{"a":"${'x'.repeat(70_000)}"}`, [413, 'too_large']],
];

const POSTS: [url: string, role: 'webhook' | 'operator' | 'admin'][] = [
  ['/webhook?source=generic', 'webhook'],
  ['/pipelines/checkout/run', 'operator'],
  [`/runs/${RUN}/feedback`, 'operator'],
  [`/runs/${RUN}/steps/look%2F1/feedback`, 'operator'],
  [`/runs/${RUN}/cancel`, 'operator'],
  ['/reload', 'admin'],
];

const bodies: Case[] = POSTS.flatMap(([url, role]) =>
  BODIES.map(([name, payload, expected]) => ({
    name: `${url}: ${name}`,
    request: { method: 'POST', url, payload, headers: { ...json, ...as(role) } },
    expected,
  })),
);

const contentTypes: Case[] = POSTS.flatMap(([url, role]) =>
  [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
  ].map((type) => ({
    name: `${url} as ${type}`,
    request: { method: 'POST', url, payload: '{}', headers: { 'content-type': type, ...as(role) } },
    expected: [415, 'validation'],
  })),
);

const MARKS: unknown[] = [
  {},
  null,
  [],
  'correct',
  1,
  true,
  { outcome: null },
  { outcome: 'CORRECT' },
  { outcome: 'right' },
  { outcome: ['correct'] },
  { outcome: 1 },
  { outcome: 'correct', note: 'x' },
  { outcome: 'correct', notes: 1 },
  { outcome: 'correct', notes: { a: 1 } },
  { outcome: 'correct', notes: 'a\0b' },
  { outcome: 'correct', notes: 'x'.repeat(10_001) },
  { outcome: 'correct', submitted_by: 'me' },
];
const marks: Case[] = [`/runs/${RUN}/feedback`, `/runs/${RUN}/steps/look/1/feedback`].flatMap((url) =>
  MARKS.map((payload) => ({
    name: `${url} with ${JSON.stringify(payload).slice(0, 60)}`,
    request: { method: 'POST', url, payload: JSON.stringify(payload), headers: { ...json, ...as('operator') } },
    expected: VALIDATION,
  })),
);

const BAD_QUERIES = [
  'limit=0',
  'limit=201',
  'limit=-1',
  'limit=1.5',
  'limit=1e2',
  'limit=',
  'limit=x',
  'limit=99999999999',
  'limit=5&limit=6',
  'limit=%00',
  'offset=-1',
  'offset=x',
  'offset=',
  'offset=99999999999999999999',
  'status=done',
  'status=',
  'stage=prod',
  'stage=all',
  'since=yesterday',
  'since=1700000000',
  'until=2026-13-01',
  'until=2026-01-01T00:00:00',
  'label=service',
  'label=:x',
  'label=',
  'parent=1',
  `parent=${RUN}x`,
  'cursor=1',
  'cursor=r',
  'cursor=r-1',
  'cursor=r1&offset=5',
  'q=',
  'q=%00',
  `q=${'x'.repeat(257)}`,
  'pipeline=',
  'pipeline=a%0Ab',
  'team=',
  'source[]=a',
  'page=2',
  'Limit=5',
  '__proto__=1',
  'constructor=1',
  'sort=asc',
  'agent=',
  'model=%1b',
  'fingerprint=',
  `label=${'a:b&label='.repeat(11)}a:b`,
];
const queries: Case[] = [
  ...BAD_QUERIES.map((query) => `/runs?${query}`),
  ...['include=all', 'include=', 'raw=1', 'include=raw&x=1'].map((query) => `/runs/${RUN}?${query}`),
  ...[
    '/pipelines',
    '/steps',
    '/agents',
    '/definitions',
    '/health',
    '/ready',
    '/metrics',
    '/favicon.svg',
    '/openapi.json',
    `/runs/${RUN}/feedback`,
  ].map((path) => `${path}?x=1`),
].map((url) => ({ name: url, request: { url, headers: as('viewer') }, expected: VALIDATION }));

const BAD_IDS = [
  '1',
  'x',
  RUN.slice(1),
  `${RUN}0`,
  RUN.replaceAll('-', ''),
  '%00',
  '..%2f..%2fetc',
  "'%20or%201=1",
  '%F0%9F%92%A9',
  'null',
  'undefined',
  '',
  'a'.repeat(300),
];
const ids: Case[] = BAD_IDS.flatMap((id) =>
  ['', '/feedback', '/steps/look/feedback'].map((rest) => ({
    name: `/runs/${id}${rest}`,
    request: { url: `/runs/${id}${rest}`, headers: as('viewer') },
    expected: NOT_FOUND,
  })),
);

const BAD_NAMES = [
  '-a',
  '_a',
  'a.b',
  'a%20b',
  'a%2Fb',
  '%00',
  '..%2Fx',
  'a'.repeat(65),
  '%E2%82%AC',
  'a%0A',
  'a:b',
  '$%7BHOME%7D',
];
const names: Case[] = BAD_NAMES.flatMap((name) => [
  ...['/pipelines/', '/steps/'].map((path) => ({
    name: path + name,
    request: { url: path + name, headers: as('viewer') },
    expected: VALIDATION,
  })),
  {
    name: `run ${name}`,
    request: { method: 'POST', url: `/pipelines/${name}/run`, headers: as('operator') },
    expected: VALIDATION,
  } satisfies Case,
]);

const addresses: Case[] = [
  ...[
    '/',
    '/nothing',
    '/Runs',
    '/webhook/x',
    '/pipelines/checkout/',
    '/ui/runs/x/streams',
    `/runs/${RUN}/steps`,
    `/runs/${RUN}/steps/look`,
    `/runs/${RUN}/steps//feedback`,
    '/constructor',
    '/__proto__',
    `/runs/${RUN}/steps/${'x'.repeat(200)}/feedback`,
    `/runs/${RUN}/steps/a%00b/feedback`,
  ].map((url): Case => ({ name: url, request: { url, headers: as('viewer') }, expected: NOT_FOUND })),
  ...['/%', '/runs/%zz', '/pipelines/%c3%28', '/steps/%'].map((url): Case => ({
    name: url,
    request: { url, headers: as('viewer') },
    expected: VALIDATION,
  })),
  ...['/pipelines/none', '/steps/none', `/runs/${runIdOf(9)}`, `/ui/runs/${runIdOf(9)}/stream`].map((url): Case => ({
    name: url,
    request: { url, headers: as('viewer') },
    expected: NOT_FOUND,
  })),
  {
    name: 'cancel an unknown run',
    request: { method: 'POST', url: `/runs/${runIdOf(9)}/cancel`, headers: as('operator') },
    expected: NOT_FOUND,
  },
  ...(['PUT', 'DELETE', 'PATCH', 'POST'] as const).map((method): Case => ({
    name: `${method} /runs`,
    request: { method, url: '/runs', headers: as('admin') },
    expected: [405, 'validation'],
  })),
  ...(['webhook', 'reload'] as const).flatMap((role): Case[] => [
    {
      name: `PATCH /${role} with its own token`,
      request: { method: 'PATCH', url: `/${role}`, headers: as(role) },
      expected: [405, 'validation'],
    },
    {
      name: `PATCH /runs with a token for ${role}`,
      request: { method: 'PATCH', url: '/runs', headers: as(role) },
      expected: [403, 'forbidden'],
    },
    {
      name: `an unknown address with a token for ${role}`,
      request: { url: '/nothing', headers: as(role) },
      expected: [403, 'forbidden'],
    },
  ]),
  { name: 'GET /reload', request: { url: '/reload', headers: as('viewer') }, expected: [405, 'validation'] },
  {
    name: 'a body for a cancel',
    request: { method: 'POST', url: `/runs/${RUN}/cancel`, payload: { force: true }, headers: as('operator') },
    expected: VALIDATION,
  },
  {
    name: 'a body for a reload',
    request: { method: 'POST', url: '/reload', payload: { all: true }, headers: as('admin') },
    expected: VALIDATION,
  },
  {
    name: 'a token of another scheme',
    request: { url: '/runs', headers: { authorization: `Basic ${'a'.repeat(9)}` } },
    expected: [401, 'unauthorized'],
  },
  {
    name: 'a token as long as a header',
    request: { url: '/runs', headers: { authorization: `Bearer ${'a'.repeat(9000)}` } },
    expected: [401, 'unauthorized'],
  },
  {
    name: 'a cookie on a JSON route',
    request: { url: '/runs', headers: { cookie: 'service_session=x.y' } },
    expected: [401, 'unauthorized'],
  },
  {
    name: 'a token in the query',
    request: { url: '/runs?access_token=admin-secret' },
    expected: [401, 'unauthorized'],
  },
];

const CASES = [...bodies, ...contentTypes, ...marks, ...queries, ...ids, ...names, ...addresses];

test('there are enough cases', () => expect(CASES.length).toBeGreaterThan(200));

test.each(CASES)('$name', async ({ request, expected }) => {
  const response = await server.app.inject(request);
  const body = response.json<{ detail: { type: string; message: string } }>();
  expect([response.statusCode, body.detail.type]).toEqual(expected);
  expect(response.body).not.toMatch(/\bat .*\.ts:|node_modules|-secret/);
});

test('none of them reached the engine or changed the store', async () => {
  expect(server.deliveries).toEqual([]);
  expect(await server.store.contents()).toBe(before);
});

test('64 levels are taken', async () => {
  const response = await server.app.inject({
    method: 'POST',
    url: '/webhook',
    payload: nested(64),
    headers: { ...json, ...as('webhook') },
  });
  expect(response.statusCode).toBe(202);
});

test('any path and any query get an answer that is typed and never ours to blame', async () => {
  const segment = fc.oneof(
    fc.webUrl().map(encodeURIComponent),
    fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''))),
    fc.constantFrom('runs', 'steps', 'feedback', RUN),
  );
  const path = fc
    .tuple(fc.constantFrom('runs', 'pipelines', 'steps', 'ui', 'x'), fc.array(segment, { maxLength: 5 }))
    .map(([first, rest]) => `/${[first, ...rest].join('/')}`);
  const query = fc.dictionary(
    fc.constantFrom('limit', 'offset', 'status', 'q', 'label', 'since', 'cursor', 'agent', 'other'),
    fc.string({ unit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(path, query, fc.constantFrom('GET', 'POST'), async (url, values, method) => {
      const search = Object.entries(values).map(
        ([key, value]) => `${key}=${encodeURIComponent(value.replace(/[\ud800-\udfff]/g, ''))}`,
      );
      const response = await server.app.inject({
        method: method as 'GET',
        url: `${url}?${search.join('&')}`,
        headers: as('admin'),
      });
      expect(response.statusCode).toBeLessThan(500);
      if (response.statusCode >= 400) expect(response.json().detail.type).toBeTypeOf('string');
    }),
    { numRuns: 300 },
  );
  expect(await server.store.contents()).toBe(before);
});

test('a step of any name that a definition allows is found again', async () => {
  const own = await startTestServer();
  try {
    const run = await own.store.addRun(1);
    const name = fc
      .tuple(fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/), fc.option(fc.nat(200)))
      .map(([step, index]) => (index === null ? step : `${step}/${index}`));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 3 }), fc.boolean(), async (steps, encoded) => {
        for (const step of steps) {
          await own.store.database.write(
            async ({ db }) => void (await db.deleteFrom('step_executions').where('step_name', '=', step).execute()),
          );
          await own.store.addStep(run, step);
          const url = `/runs/${run}/steps/${encoded ? encodeURIComponent(step) : step}/feedback`;
          const response = await own.app.inject({
            method: 'POST',
            url,
            payload: { outcome: 'correct' },
            headers: as('operator'),
          });
          expect(response.json()).toMatchObject({ step_name: step });
        }
      }),
      { numRuns: 30 },
    );
  } finally {
    await own.close();
  }
});

test('what is not HTTP gets the same envelope', async () => {
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.app.server.address() as AddressInfo;
  for (const [text, status] of [
    ['nonsense\r\n\r\n', '400'],
    [`GET /health HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, '431'],
  ] as const) {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      let all = '';
      socket
        .on('data', (data) => (all += data))
        .on('close', () => resolve(all))
        .on('error', reject);
    });
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toHaveProperty('detail.type');
  }
});
