import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipelineYaml, stepYaml, type TestFolders } from '../../definitions/fixtures/folders.ts';
import { BAD_PIPELINES, BAD_STEPS, BAD_YAML_NAMES, NO_DEFINITION } from '../fixtures/bad-yaml.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';
import { as, type SECRETS } from '../fixtures/server.ts';

/** `invalid`: 200 and `valid: false`, which only the validate routes say. */
type Expected = [status: number, type: string];
const VALIDATION: Expected = [400, 'validation'];
const NOT_FOUND: Expected = [404, 'not_found'];
const INVALID: Expected = [200, 'invalid'];
const json = { 'content-type': 'application/json' };

interface Case {
  name: string;
  request: InjectOptions;
  expected: Expected;
}

type Method = 'POST' | 'PUT' | 'DELETE';
const call = (method: Method, url: string, body: string | undefined, expected: Expected, what = ''): Case => ({
  name: `${method} ${url.slice(0, 60)} ${what}`,
  request: {
    method,
    url,
    headers: { ...(body === undefined ? {} : json), ...as('admin') },
    ...(body === undefined ? {} : { payload: body }),
  },
  expected,
});

const ofPipelines: [Method, string][] = [
  ['POST', '/pipelines'],
  ['PUT', '/pipelines/checkout'],
  ['POST', '/pipelines/validate'],
];
const ofSteps: [Method, string][] = [
  ['POST', '/steps'],
  ['PUT', '/steps/inspect'],
  ['POST', '/steps/validate'],
];
const WRITES = [...ofPipelines, ...ofSteps];
/** A shell check is refused by the validate routes too (Orchestration 4.5). */
const answerTo = (url: string, what = ''): Expected =>
  url.endsWith('/validate') && !what.startsWith('a shell check') ? INVALID : VALIDATION;

const GOOD = pipelineYaml('fresh');
const SHAPES: [name: string, body: unknown][] = [
  ['null', null],
  ['a list', []],
  ['a text', GOOD],
  ['a number', 5],
  ['true', true],
  ['nothing in it', {}],
  ['null as yaml', { yaml: null }],
  ['a number as yaml', { yaml: 5 }],
  ['a list as yaml', { yaml: [GOOD] }],
  ['the definition itself', { yaml: { name: 'fresh', steps: [] } }],
  ['the definition without an envelope', { name: 'fresh', steps: [] }],
  ['another key', { yml: GOOD }],
  ['the key in capitals', { YAML: GOOD }],
  ['a key too many', { yaml: GOOD, name: 'fresh' }],
  ['force', { yaml: GOOD, force: true }],
  ['a path', { yaml: GOOD, file: '../../etc/cron.d/x' }],
  ['overwrite as text', { yaml: GOOD, overwrite: 'true' }],
  ['overwrite as a number', { yaml: GOOD, overwrite: 1 }],
  ['overwrite as null', { yaml: GOOD, overwrite: null }],
  ['overwrite as a list', { yaml: GOOD, overwrite: [true] }],
];
const shapes = WRITES.flatMap(([method, url]) =>
  SHAPES.map(([name, body]) => call(method, url, JSON.stringify(body), VALIDATION, name)),
);

const RAW: [name: string, body: string, expected: Expected][] = [
  ['no body', '', VALIDATION],
  ['YAML in place of JSON', GOOD, VALIDATION],
  ['cut off', '{"yaml": "na', VALIDATION],
  ['two values', '{} {}', VALIDATION],
  ['a trailing comma', '{"yaml":"",}', VALIDATION],
  ['a line break in a text', '{"yaml":"a\nb"}', VALIDATION],
  ['65 lists deep', '['.repeat(65) + ']'.repeat(65), VALIDATION],
  ['30,000 lists deep', '['.repeat(30_000), VALIDATION],
  ['__proto__', '{"yaml":"x","__proto__":{"overwrite":true}}', VALIDATION],
  ['constructor.prototype', '{"constructor":{"prototype":{"yaml":"x"}}}', VALIDATION],
  ['too large', JSON.stringify({ yaml: 'x'.repeat(1024 * 1024) }), [413, 'too_large']],
];
const raw = WRITES.flatMap(([method, url]) =>
  RAW.map(([name, body, expected]) => call(method, url, body, expected, name)),
);

const types = WRITES.flatMap(([method, url]) =>
  ['text/plain', 'application/yaml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map(
    (type): Case => ({
      name: `${method} ${url} as ${type}`,
      request: { method, url, payload: GOOD, headers: { 'content-type': type, ...as('admin') } },
      expected: [415, 'validation'],
    }),
  ),
);

const URL_NAMES = [
  '-a',
  '_a',
  'a.b',
  'a.yaml',
  'a%20b',
  'a%2Fb',
  '..%2Fx',
  '%2e%2e%2fx',
  '..%5Cx',
  '..%2F..%2Fetc%2Fpasswd',
  '%00',
  'a%00',
  'a%0A',
  'a%0Ab',
  'x'.repeat(65),
  '%E2%82%AC',
  '%F0%9F%92%A9',
  'a:b',
  'a;b',
  'a*',
  '$%7BHOME%7D',
  '%7B%7Bx%7D%7D',
  '%252e%252e%252f',
  "'%20or%201=1",
  '~root',
  '.',
].filter((name) => name !== '.');
const names = URL_NAMES.flatMap((name) => [
  ...(['/pipelines/', '/steps/'] as const).flatMap((path) => [
    call('PUT', path + name, JSON.stringify({ yaml: GOOD }), VALIDATION),
    call('DELETE', path + name, undefined, VALIDATION),
  ]),
  ...['suspend', 'resume'].map((word) => call('POST', `/pipelines/${name}/${word}`, undefined, VALIDATION)),
]);

const body = (yaml: string) => JSON.stringify({ yaml });
const texts = WRITES.flatMap(([method, url]) =>
  NO_DEFINITION.map(([name, yaml]) => call(method, url, body(yaml), answerTo(url), name)),
);
const ownNames = WRITES.flatMap(([method, url]) =>
  BAD_YAML_NAMES.map((name) => {
    const yaml = (url.startsWith('/steps') ? stepYaml('NAME') : pipelineYaml('NAME')).replace('NAME', () => name);
    return call(method, url, body(yaml), answerTo(url), `name ${name.slice(0, 20)}`);
  }),
);
/** `POST` takes a name that is free, `PUT` the one of its address. */
const renamed = (method: Method, url: string, yaml: string) =>
  method === 'POST' && !url.endsWith('/validate')
    ? yaml.replaceAll('checkout', 'fresh').replace('name: inspect', 'name: fresh')
    : yaml;
const pipelines = ofPipelines.flatMap(([method, url]) =>
  BAD_PIPELINES.map(([name, yaml]) => call(method, url, body(renamed(method, url, yaml)), answerTo(url, name), name)),
);
const steps = ofSteps.flatMap(([method, url]) =>
  BAD_STEPS.map(([name, yaml]) => call(method, url, body(renamed(method, url, yaml)), answerTo(url, name), name)),
);

const others: Case[] = [
  ...['none', 'Checkout', 'CHECKOUT', 'inspect', 'constructor', 'toString', 'hasOwnProperty', 'validate'].flatMap(
    (name) => [
      call('PUT', `/pipelines/${name}`, body(pipelineYaml(name)), NOT_FOUND),
      call('DELETE', `/pipelines/${name}`, undefined, NOT_FOUND),
      call('POST', `/pipelines/${name}/suspend`, undefined, NOT_FOUND),
      call('POST', `/pipelines/${name}/resume`, undefined, NOT_FOUND),
    ],
  ),
  ...['none', 'Inspect', 'checkout', 'constructor'].flatMap((name) => [
    call('PUT', `/steps/${name}`, body(stepYaml(name)), NOT_FOUND),
    call('DELETE', `/steps/${name}`, undefined, NOT_FOUND),
  ]),
  call('PUT', '/pipelines/checkout', body(pipelineYaml('fresh')), VALIDATION, 'another name'),
  call('PUT', '/pipelines/checkout', body(pipelineYaml('Checkout')), VALIDATION, 'the name in capitals'),
  call('PUT', '/steps/inspect', body(stepYaml('fresh')), VALIDATION, 'another name'),
  ...['/pipelines/checkout', '/steps/inspect'].map((url) =>
    call('DELETE', url, '{"force":true}', VALIDATION, 'a body'),
  ),
  ...['suspend', 'resume'].map((word) =>
    call('POST', `/pipelines/checkout/${word}`, '{"until":"tomorrow"}', VALIDATION, 'a body'),
  ),
  ...[
    ...WRITES.map(([method, url]): [Method, string] => [method, url]),
    ['DELETE', '/pipelines/checkout'] as [Method, string],
  ].flatMap(([method, url]) =>
    ['overwrite=true', 'x=1', 'yaml=x'].map((query) =>
      call(method, `${url}?${query}`, method === 'DELETE' ? undefined : body(GOOD), VALIDATION),
    ),
  ),
  call('DELETE', '/pipelines', undefined, [405, 'validation']),
  call('PUT', '/pipelines', body(GOOD), [405, 'validation']),
  call('POST', '/steps/inspect/suspend', undefined, NOT_FOUND),
  call('POST', '/pipelines/checkout/promote', undefined, NOT_FOUND),
];

const QUERIES = [
  'actor=',
  'actor=%00',
  'actor=a%0Ab',
  `actor=${'x'.repeat(257)}`,
  'role=root',
  'role=',
  'role=admin&role=viewer',
  'action=',
  'target_type=',
  'targetType=x',
  'target=%1b',
  'since=yesterday',
  'since=1700000000',
  'since=',
  'until=2026-13-01',
  'until=2026-01-01T00:00:00',
  'limit=0',
  'limit=201',
  'limit=-1',
  'limit=1.5',
  'limit=x',
  'limit=',
  'limit=5&limit=6',
  'offset=-1',
  'offset=x',
  'offset=99999999999999999999',
  'q=x',
  'page=2',
  '__proto__=1',
  'prior_yaml=x',
];
const queries = QUERIES.map((query): Case => ({
  name: `GET /audit?${query.slice(0, 40)}`,
  request: { url: `/audit?${query}`, headers: as('viewer') },
  expected: VALIDATION,
}));
const views = ['format=yaml', 'format=', 'format=cr&format=cr', 'format=CR', 'x=1'].flatMap((query) =>
  ['/pipelines/checkout', '/steps/inspect'].map((url): Case => ({
    name: `GET ${url}?${query}`,
    request: { url: `${url}?${query}`, headers: as('viewer') },
    expected: VALIDATION,
  })),
);
const roles = (['viewer', 'operator', 'webhook'] as (keyof typeof SECRETS)[]).flatMap((role) =>
  WRITES.map(([method, url]): Case => ({
    name: `${method} ${url} as ${role}`,
    request: { method, url, payload: body(GOOD), headers: { ...json, ...as(role) } },
    expected: [403, 'forbidden'],
  })),
);

const CASES = [
  ...shapes,
  ...raw,
  ...types,
  ...names,
  ...texts,
  ...ownNames,
  ...pipelines,
  ...steps,
  ...others,
  ...queries,
  ...views,
  ...roles,
];

const fill = (disk: TestFolders) => {
  disk.write('pipelines/checkout.yaml', pipelineYaml('checkout'));
  disk.write('pipelines/other.yaml', pipelineYaml('other', 'vars: {password: do-not-tell}\n'));
  disk.write('steps/inspect.yaml', stepYaml('inspect'));
};

let server: DefinitionServer;
let before: { disk: object; store: string; hash: string };
beforeAll(async () => {
  server = await startDefinitionServer({ fill });
  before = await state();
});
afterAll(() => server.close());

const state = async () => ({
  disk: server.disk.contents(),
  store: await server.store.contents(),
  hash: server.registry.current().hash,
});

test('there are enough cases', () => expect(CASES.length).toBeGreaterThan(800));

test.each(CASES)('$name', async ({ request, expected }) => {
  const response = await server.app.inject(request);
  const answer = response.json();
  expect([response.statusCode, answer.detail?.type ?? (answer.valid === false ? 'invalid' : 'taken')]).toEqual(
    expected,
  );
  for (const { loc, msg } of answer.errors ?? answer.detail.errors ?? []) {
    expect(loc).toBeInstanceOf(Array);
    expect(msg).toMatch(/\S/);
  }
  expect(response.body).not.toMatch(/\bat .*\.ts:|node_modules|-secret|do-not-tell|root:x:/);
  expect(response.body).not.toContain(server.disk.root);
});

test('none of them changed the disk, the database or what is served', async () => {
  expect(await state()).toEqual(before);
  expect((await server.registry.reload()).hash).toBe(before.hash);
});
