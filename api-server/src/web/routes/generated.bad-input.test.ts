import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { as, type SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

/**
 * What no route may take, as products of what is wrong and where. One oracle: exact status and `detail.type`, no secret and
 * no inside of ours in the answer, the engine not reached and no row changed.
 */
type Role = keyof typeof SECRETS;
type Expected = readonly [status: number, type: string];
interface Case {
  name: string;
  request: InjectOptions;
  expected: Expected;
}

const VALIDATION: Expected = [400, 'validation'];
const NOT_FOUND: Expected = [404, 'not_found'];
const UNAUTHORIZED: Expected = [401, 'unauthorized'];
const RUN = runIdOf(1);
const APPROVAL = runIdOf(7);
const json = { 'content-type': 'application/json' };

const get = (url: string, expected: Expected, role: Role = 'viewer'): Case => ({
  name: `GET ${url.slice(0, 80)}`,
  request: { url, headers: as(role) },
  expected,
});
const post = (url: string, role: Role, { payload, expected }: { payload?: unknown; expected: Expected }): Case => ({
  name: `POST ${url.slice(0, 60)} ${JSON.stringify(payload)?.slice(0, 60) ?? ''}`,
  request: {
    method: 'POST',
    url,
    headers: payload === undefined ? as(role) : { ...json, ...as(role) },
    ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
  },
  expected,
});

/** Names that would leave a folder, end a line, or be something else to another program. */
const BAD_NAMES = [
  '..%2f..%2fetc%2fpasswd',
  '..%2F',
  '%2e%2e%2fx',
  '..%5c..%5cx',
  '%252e%252e%252f',
  '....%2f%2f',
  '%2fetc%2fpasswd',
  'a%2f..%2fb',
  'a%00',
  '%00a',
  'a%0a',
  'a%0d%0aset-cookie:x',
  'a%09',
  'a%20',
  '%20a',
  'a%7f',
  '.a',
  '-a',
  '_a',
  'a.yaml',
  'a.b',
  'a~',
  'a*',
  'a%3fb',
  'a%23b',
  'a%26b',
  'a%3db',
  'a+b',
  'a,b',
  "a'b",
  'a%22b',
  'a%3cb%3e',
  '$a',
  '%24%7bHOME%7d',
  '%7b%7ba%7d%7d',
  'a%60id%60',
  'a%7cb',
  'a%3bb',
  '%c3%a4',
  '%e2%80%ae',
  '%f0%9f%92%a9',
  '%ef%bc%8e%ef%bc%8e',
  'a'.repeat(65),
  'a'.repeat(500),
  'C:',
  'con%3a',
  '~root',
  '@a',
  '(a)',
  '[a]',
  '!a',
  '=a',
];
const names: Case[] = BAD_NAMES.flatMap((name) => [
  get(`/pipelines/${name}`, VALIDATION),
  get(`/pipelines/${name}/promotion-readiness`, VALIDATION),
  get(`/steps/${name}`, VALIDATION),
  get(`/pipelines/${name}/stats`, VALIDATION),
  get(`/steps/${name}/stats`, VALIDATION),
  get(`/steps/${name}/models`, VALIDATION),
  get(`/steps/${name}/calibration`, VALIDATION),
  get(`/steps/${name}/versions`, VALIDATION),
  get(`/agents/${name}/versions`, VALIDATION),
  post(`/pipelines/${name}/run`, 'operator', { expected: VALIDATION }),
  post(`/pipelines/${name}/promotion-readiness/preview`, 'viewer', { expected: VALIDATION }),
  post(`/pipelines/${name}/suspend`, 'admin', { expected: VALIDATION }),
]);

/** What is no id names nothing, like an id that nobody has. */
const BAD_IDS = [
  '0',
  '-1',
  '1e3',
  'NaN',
  'null',
  'true',
  '%5b%5d',
  '%7b%7d',
  '..%2f1',
  '%00',
  "1'%20or%20'1'='1",
  '%25',
  '*',
  '%2a',
  RUN.slice(0, -1),
  `${RUN}a`,
  RUN.replace('4', 'g'),
  `%7b${RUN}%7d`,
  `urn:uuid:${RUN}`,
  `${RUN}%00`,
  `${RUN}%20`,
  `${RUN},${RUN}`,
];
const ids: Case[] = BAD_IDS.flatMap((id) => [
  ...['', '/feedback', '/steps/look/feedback', '/artifacts?step=a&name=b'].map((rest) =>
    get(`/runs/${id}${rest}`, NOT_FOUND),
  ),
  ...['/cancel', '/rerun'].map((rest) => post(`/runs/${id}${rest}`, 'operator', { expected: NOT_FOUND })),
  post(`/runs/${id}/feedback`, 'operator', { payload: { outcome: 'correct' }, expected: NOT_FOUND }),
  post(`/approvals/${id}`, 'operator', { payload: { decision: 'approve' }, expected: NOT_FOUND }),
]);

/** Steps that the run does not have; a name is looked up and never becomes a path. */
const STRANGE_STEPS = [
  'look/1/1',
  'look/',
  '/look',
  'look//1',
  'look/01',
  'look/-1',
  'look/1%2f..',
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e%2flook%2f1',
  'look%00',
  'look%2f1%00',
  'look%0a',
  'LOOK/1',
  'look%2F1%20',
  '%c3%a4',
  "look'--",
  'look%25',
  'x'.repeat(161),
  'a/'.repeat(70),
];
const steps: Case[] = STRANGE_STEPS.flatMap((step) => [
  get(`/runs/${RUN}/steps/${step}/feedback`, NOT_FOUND),
  post(`/runs/${RUN}/steps/${step}/feedback`, 'operator', { payload: { outcome: 'correct' }, expected: NOT_FOUND }),
]);

const BAD_LIMITS = [
  '0',
  '201',
  '-1',
  '1.0',
  '1e1',
  '0x10',
  '',
  '%20',
  '+5',
  '5%00',
  '٣',
  'Infinity',
  'true',
  '[5]',
  '12345678901',
];
const BAD_OFFSETS = ['-1', '1.5', '', 'x', '1e3', '%00', '99999999999', 'NaN', '0x1', '%2B1'];
const LISTS = ['/runs', '/audit', '/approvals'];
const BAD_TIMES = [
  'now',
  '1',
  '2026',
  '2026-02-30',
  '2026-01-01T25:00:00Z',
  '2026-01-01 00:00',
  '01/02/2026',
  '%00',
  '',
];
const queries: Case[] = [
  ...LISTS.flatMap((list) => [
    ...BAD_LIMITS.map((limit) => get(`${list}?limit=${limit}`, VALIDATION)),
    ...BAD_OFFSETS.map((offset) => get(`${list}?offset=${offset}`, VALIDATION)),
    get(`${list}?limit=5&limit=6`, VALIDATION),
    get(`${list}?offset=5&offset=6`, VALIDATION),
  ]),
  ...['/runs?since=', '/runs?until=', '/audit?since=', '/audit?until='].flatMap((start) =>
    BAD_TIMES.map((time) => get(start + time, VALIDATION)),
  ),
  ...['pending,approved', 'PENDING', '', 'open', '%00', 'pending&status=approved'].map((status) =>
    get(`/approvals?status=${status}`, VALIDATION),
  ),
  ...['1', RUN.slice(1), '', '%00'].map((run) => get(`/approvals?run=${run}`, VALIDATION)),
  ...['0', '0.3', '1.5', '-0.1', '1e-1', 'NaN', '', '%00', '0.1&bin_width=0.2'].map((width) =>
    get(`/pipelines/x/promotion-readiness?bin_width=${width}`, VALIDATION),
  ),
  ...BAD_LIMITS.filter((n) => n !== '201').map((n) => get(`/pipelines/x/promotion-readiness?n_min=${n}`, VALIDATION)),
  ...[
    'step=a',
    'name=b',
    '',
    'step=&name=b',
    'step=a&name=',
    'step=a&name=%00',
    'step=a&name=b&x=1',
    `step=a&name=${'x'.repeat(513)}`,
  ].map((query) => get(`/runs/${RUN}/artifacts?${query}`, VALIDATION)),
];

const READS = [
  '/runs',
  `/runs/${RUN}`,
  `/runs/${RUN}/feedback`,
  `/runs/${RUN}/steps/look/1/feedback`,
  '/approvals',
  '/audit',
  '/schedules',
  '/pipelines',
  '/pipelines/x',
  '/pipelines/x/stats',
  '/stats/pipelines',
  '/steps',
  '/steps/x',
  '/steps/x/stats',
  '/steps/x/models',
  '/steps/x/calibration',
  '/steps/x/versions',
  '/agents/x/versions',
  '/agents',
  '/definitions',
  '/openapi.json',
  '/health',
  '/ready',
  '/metrics',
  '/favicon.svg',
  '/pipelines/x/promotion-readiness',
];
const UNKNOWN_KEYS = [
  'x=1',
  'debug=true',
  '__proto__=1',
  'constructor=1',
  'toString=1',
  'limit%00=1',
  '%5b%5d=1',
  'LIMIT=1',
  '=1',
  'access_token=admin-secret',
];
const unknownKeys: Case[] = READS.flatMap((url) => UNKNOWN_KEYS.map((key) => get(`${url}?${key}`, VALIDATION)));

const NOT_OBJECTS = [[], [1], 'text', 1, 0, -1, true, false, ''];
const BAD_MARKS = [
  ...NOT_OBJECTS,
  { outcome: 'Correct' },
  { outcome: ' correct' },
  { outcome: '' },
  { outcome: 0 },
  { outcome: {} },
  { outcome: ['correct'] },
  { notes: 'x' },
  { outcome: 'correct', notes: 1 },
  { outcome: 'correct', notes: [] },
  { outcome: 'correct', notes: '\0' },
  { outcome: 'correct', run_id: RUN },
  { outcome: 'correct', notes: 'x'.repeat(10_001) },
  { outcome: 'correct', submitted_at: '2026-01-01' },
  { OUTCOME: 'correct' },
];
const BAD_DECISIONS = [
  ...NOT_OBJECTS,
  {},
  { decision: 'approved' },
  { decision: 'Approve' },
  { decision: '' },
  { decision: null },
  { decision: true },
  { decision: ['approve'] },
  { decision: 'approve', fields: [] },
  { decision: 'approve', fields: 'x' },
  { decision: 'approve', fields: null },
  { decision: 'approve', fields: { a: {} } },
  { decision: 'approve', fields: { a: [] } },
  { decision: 'approve', fields: { ['x'.repeat(65)]: 1 } },
  { decision: 'approve', comment: 1 },
  { decision: 'approve', comment: {} },
  { decision: 'approve', comment: '\0' },
  { decision: 'reject', comment: 'x'.repeat(4_001) },
  { decision: 'approve', by: 'me' },
  { decision: 'approve', id: APPROVAL },
];
const BAD_RERUNS = [
  ...NOT_OBJECTS,
  { from_step: '' },
  { from_step: 1 },
  { from_step: [] },
  { from_step: {} },
  { from_step: true },
  { from_step: 'a\nb' },
  { from_step: 'a\0' },
  { from_step: 'x'.repeat(257) },
  { fromStep: 'a' },
  { from: 'a' },
  { from_step: 'a', team: 'x' },
  { from_step: 'a', force: true },
];
const bodies: Case[] = [
  ...[`/runs/${RUN}/feedback`, `/runs/${RUN}/steps/look%2F1/feedback`].flatMap((url) =>
    BAD_MARKS.map((payload) => post(url, 'operator', { payload, expected: VALIDATION })),
  ),
  ...NOT_OBJECTS.map((payload) =>
    post('/pipelines/x/promotion-readiness/preview', 'viewer', { payload, expected: NOT_FOUND }),
  ),
  ...BAD_DECISIONS.map((payload) => post(`/approvals/${APPROVAL}`, 'operator', { payload, expected: VALIDATION })),
  ...BAD_RERUNS.map((payload) => post(`/runs/${RUN}/rerun`, 'operator', { payload, expected: VALIDATION })),
  ...[...NOT_OBJECTS, { force: true }, { reason: 'x' }].flatMap((payload) => [
    post(`/runs/${RUN}/cancel`, 'operator', { payload, expected: VALIDATION }),
    post('/reload', 'admin', { payload, expected: VALIDATION }),
  ]),
  post(`/approvals/${APPROVAL}`, 'operator', { payload: { decision: 'approve' }, expected: NOT_FOUND }),
  post(`/runs/${runIdOf(9)}/feedback`, 'operator', { payload: { outcome: 'correct' }, expected: NOT_FOUND }),
  post(`/runs/${runIdOf(9)}/rerun`, 'operator', { expected: NOT_FOUND }),
];

/** No token, or not quite one. */
const NO_TOKENS = [
  '',
  'Bearer',
  'Bearer ',
  'bearer',
  'Bearer nobody',
  'Bearer admin-secretx',
  'Bearer admin-secre',
  'Bearer ADMIN-SECRET',
  'admin-secret',
  'Basic admin-secret',
  'Token admin-secret',
  'Bearer admin-secret,viewer-secret',
  'Bearer "admin-secret"',
  'Bearer	admin-secret',
  'Bearer=admin-secret',
];
const GUARDED: [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string][] = [
  ...READS.slice(0, 14).map((url) => ['GET', url] as ['GET', string]),
  ['POST', '/webhook?source=generic'],
  ['POST', '/triggers/preview?source=generic'],
  ['POST', '/pipelines/checkout/run'],
  ['POST', '/pipelines/checkout/suspend'],
  ['POST', '/pipelines'],
  ['POST', '/pipelines/validate'],
  ['PUT', '/steps/x'],
  ['DELETE', '/pipelines/x'],
  ['POST', `/runs/${RUN}/rerun`],
  ['POST', `/runs/${RUN}/feedback`],
  ['POST', `/approvals/${APPROVAL}`],
  ['POST', '/reload'],
  ['GET', '/pipelines/x/promotion-readiness'],
  ['POST', '/pipelines/x/promotion-readiness/preview'],
  ['GET', '/nothing/here'],
];
const tokens: Case[] = GUARDED.flatMap(([method, url]) =>
  NO_TOKENS.map((authorization): Case => ({
    name: `${method} ${url} with ${JSON.stringify(authorization)}`,
    request: { method, url, headers: authorization === '' ? {} : { authorization } },
    expected: UNAUTHORIZED,
  })),
);

const methods: Case[] = [
  '/runs',
  '/approvals',
  '/audit',
  '/schedules',
  '/agents',
  '/definitions',
  '/health',
  '/ready',
  '/metrics',
  '/openapi.json',
].flatMap((url) =>
  (['PUT', 'PATCH', 'DELETE'] as const).map((method): Case => ({
    name: `${method} ${url}`,
    request: { method, url, headers: as('admin') },
    expected: [405, 'validation'],
  })),
);

const GROUPS: Record<string, Case[]> = { names, ids, steps, queries, unknownKeys, bodies, tokens, methods };

let server: TestServer;
let before: string;
beforeAll(async () => {
  server = await startTestServer();
  await server.store.addRun(1);
  await server.store.addStep(RUN, 'look/1');
  before = await server.store.contents();
});
afterAll(() => server.close());

const INSIDES = /\bat .*\.ts:|node_modules|-secret|SQLITE|sqlite|postgres|ENOENT/;

async function wrong({ name, request, expected }: Case): Promise<string[]> {
  const { statusCode, body } = await server.app.inject(request);
  const { detail } = JSON.parse(body) as { detail: { type: string; message: unknown } };
  const seen = JSON.stringify([statusCode, detail.type]);
  const leaks = INSIDES.test(body) || typeof detail.message !== 'string';
  return seen === JSON.stringify(expected) && !leaks ? [] : [`${name}: ${seen} ${leaks ? body : ''}`];
}

test.each(Object.entries(GROUPS))('%s', async (_, cases) => {
  const found: string[] = [];
  for (const one of cases) found.push(...(await wrong(one)));
  expect(found).toEqual([]);
});

test('none of them reached the engine or changed the store', async () => {
  expect(server.deliveries).toEqual([]);
  expect(await server.store.contents()).toBe(before);
});

test('there are enough cases', () => expect(Object.values(GROUPS).flat().length).toBeGreaterThan(1_100));
