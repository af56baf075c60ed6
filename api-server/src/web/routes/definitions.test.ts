import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipelineYaml } from '../../definitions/fixtures/folders.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';

const CHECKOUT = `# kept as it stands
name: checkout
description: Looks at the checkout
version: 3
stage: production
tags: [sre, shop]
trigger: {priority: 10}
steps:
  - {name: look, use: inspect, confidence_threshold: 0.9}
`;
const INSPECT = `name: inspect
description: Reads the machine
tags: [read]
executor: gateway
agent: machine-reader
prompt_template: "Look at {{summary}}"
confidence_threshold: 0.5
`;
const BARE = 'name: tell\nexecutor: webhook\nurl: "https://example.com/"\n';
const SHELL =
  'name: shelled\nsteps:\n  - {name: a, use: inspect, deterministic_checks: [{type: shell, name: s, run: "true"}]}\n';

let server: DefinitionServer;
beforeAll(async () => {
  server = await startDefinitionServer({
    fill: (disk) => {
      disk.write('pipelines/a-plain.yaml', pipelineYaml('plain'));
      disk.write('pipelines/checkout.yaml', CHECKOUT);
      disk.write('pipelines/shelled.yaml', SHELL);
      disk.write('pipelines/broken.yaml', 'name: broken\nsteps: []\n');
      disk.write('steps/inspect.yaml', INSPECT);
      disk.write('steps/tell.yaml', BARE);
    },
    deps: {
      verdictOf: (name, hash) =>
        name === 'checkout' && /^[0-9a-f]{32}$/.test(hash) ? { verdict: 'building', reason: '7 of 20 runs' } : null,
      listAgents: () =>
        Promise.resolve({ agents: [{ name: 'a', executor: 'gateway', model: null }], errors: { external: 'is down' } }),
    },
  });
});
afterAll(() => server.close());

const get = (url: string) => server.send('GET', url, undefined, 'viewer');

test('GET /pipelines: summaries in load order, defaults where nothing is written', async () => {
  const { status, body } = await get('/pipelines');
  expect(status).toBe(200);
  expect(body.pipelines.slice(0, 2)).toEqual([
    { name: 'checkout', description: 'Looks at the checkout', version: 3, stage: 'production', tags: ['sre', 'shop'] },
    { name: 'plain', description: '', version: null, stage: 'testing', tags: [] },
  ]);
});

test('GET /pipelines/{name}: the resolved object, with `use` expanded and local keys over it, and the raw text', async () => {
  const { body } = await get('/pipelines/checkout');
  expect(Object.keys(body)).toEqual(['config', 'yaml']);
  expect(body.yaml).toBe(CHECKOUT);
  expect(body.config.steps[0]).toMatchObject({
    name: 'look',
    executor: 'gateway',
    agent: 'machine-reader',
    confidence_threshold: 0.9,
    timeout_seconds: 300,
  });
});

test('GET /steps: summaries of the library; an executor without an agent has none', async () => {
  expect((await get('/steps')).body).toEqual({
    steps: [
      {
        name: 'inspect',
        description: 'Reads the machine',
        tags: ['read'],
        executor: 'gateway',
        agent: 'machine-reader',
      },
      { name: 'tell', description: '', tags: [], executor: 'webhook', agent: null },
    ],
  });
});

test('GET /steps/{name}: the object and the raw text', async () => {
  const { body } = await get('/steps/inspect');
  expect(Object.keys(body)).toEqual(['config', 'yaml']);
  expect(body).toMatchObject({ yaml: INSPECT, config: { name: 'inspect', agent: 'machine-reader' } });
});

test.each(['/pipelines/nobody', '/steps/nobody', '/pipelines/broken', '/steps/checkout'])(
  '%s is unknown',
  async (url) => {
    const { status, body } = await get(url);
    expect([status, body.detail.type]).toEqual([404, 'not_found']);
  },
);

test('an unknown name is answered with the one that was probably meant', async () => {
  expect((await get('/pipelines/chekcout')).body.detail.message).toBe(
    'no pipeline is named "chekcout"; did you mean "checkout"?',
  );
});

test('GET /agents: what the backends say, with those that are down beside it', async () => {
  expect(await get('/agents')).toMatchObject({
    status: 200,
    body: { agents: [{ name: 'a', executor: 'gateway', model: null }], errors: { external: 'is down' } },
  });
});

test('GET /definitions: a hash of each, a broken file as an error, a shell check that may not run as a warning', async () => {
  const { body } = await get('/definitions');
  expect(body.definitions.map(({ name }: { name: string }) => name)).toEqual([
    'checkout',
    'plain',
    'shelled',
    'inspect',
    'tell',
  ]);
  for (const { hash } of body.definitions) expect(hash).toMatch(/^[0-9a-f]{32}$/);
  expect(body.errors).toMatchObject([{ name: 'broken', loc: ['steps'] }]);
  expect(body.warnings).toMatchObject([{ name: 'shelled', reason: 'shell_not_allowed' }]);
});

test('GET /definitions: the readiness verdict on the edition of each pipeline, with its reason', async () => {
  const { body } = await get('/definitions');
  const verdicts = body.definitions.map(
    ({ name, verdict, verdict_reason: why }: { name: string; verdict: unknown; verdict_reason: unknown }) => [
      name,
      verdict,
      why,
    ],
  );
  expect(verdicts).toEqual([
    ['checkout', 'building', '7 of 20 runs'],
    ['plain', null, null],
    ['shelled', null, null],
    ['inspect', null, null],
    ['tell', null, null],
  ]);
});
