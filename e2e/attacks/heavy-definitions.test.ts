import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { MAX_HEALTH_MS } from './probe-health.ts';

const scratch = scratchDirectory('heavy-definitions-');
const pipelines = join(scratch.path, 'pipelines');
const steps = join(scratch.path, 'steps');
const agents = join(scratch.path, 'agents');
let services: LocalServices;

beforeAll(async () => {
  mkdirSync(pipelines);
  mkdirSync(steps);
  services = await startLocalServices({
    dataDir: scratch.path,
    change: {
      'api-server': (config) => {
        config.pipeline_config_dir = pipelines;
        config.step_library_dir = steps;
        config.auth = { allow_unauthenticated: true };
      },
      gateway: (config) => {
        config.agents_dir = agents;
      },
    },
  });
});
afterAll(async () => {
  await services?.stop();
  scratch.remove();
});

/** Nearly as large as a schema, and five of them as a definition, may be; each takes a tenth of a second to compile. */
const ALTERNATIVES = 180;
const schema = (name: string) => ({
  type: 'object',
  anyOf: Array.from({ length: ALTERNATIVES }, (_, at) => ({
    required: [`${name}${at}`],
    properties: { [`${name}${at}`]: { const: at } },
  })),
});
const pipeline = (name: string) =>
  JSON.stringify({
    name,
    steps: Array.from({ length: 5 }, (_, at) => ({
      name: `step${at}`,
      executor: 'gateway',
      agent: 'sre-triage',
      prompt_template: 'look',
      output_schema: schema(`${name}_${at}_`),
    })),
  });

/** The service watches its event loop every 100 ms, and forgets what it saw with each answer. */
const WATCHED_EVERY_MS = 100;
async function longestHold(service: { url: string }): Promise<number> {
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics) ?? [];
  return Number(seconds) * 1000 - WATCHED_EVERY_MS;
}

/** How long the service held its event loop at most, and how long the whole work took. */
async function heldDuring(
  work: () => Promise<void>,
  service: { url: string } = services.apiServer,
): Promise<{ held: number; took: number }> {
  await longestHold(service);
  const began = performance.now();
  await work();
  const took = performance.now() - began;
  return { held: await longestHold(service), took };
}

const MAX_HELD_MS = 200;

const api = <T>(path: string, body?: unknown) =>
  call<T>(`${services.apiServer.url}${path}`, { timeoutMs: 240_000, ...(body === undefined ? {} : { body }) });

test(
  'a reload of 200 large schemas holds the event loop for at most a fifth of a second',
  { timeout: 300_000 },
  async () => {
    const names = Array.from({ length: 40 }, (_, at) => `heavy${at}`);
    for (const name of names) writeFileSync(join(pipelines, `${name}.yaml`), pipeline(name));
    const { held, took } = await heldDuring(async () => {
      expect((await api('/reload', {})).status).toBe(200);
    });
    // A busy machine stretches both.
    expect(held).toBeLessThan(Math.max(MAX_HELD_MS, took / 10));
    const { body } = await api<{ pipelines: { name: string }[] }>('/pipelines');
    expect(body.pipelines.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  },
);

test('a definition that takes seconds to check is refused, and the one before it goes on', async () => {
  const file = join(pipelines, 'uses.yaml');
  const asking = { executor: 'human', timeout_seconds: 5 };
  const uses = (count: number) =>
    JSON.stringify({
      name: 'uses',
      steps: [
        { name: 'a', ...asking, prompt_template: '{{summary}}' },
        ...Array.from({ length: count }, (_, at) => ({ name: `s${at}`, use: 'long' })),
      ],
    });
  writeFileSync(
    join(steps, 'long.yaml'),
    JSON.stringify({ name: 'long', ...asking, prompt_template: '{{a}}'.repeat(12_000) }),
  );
  writeFileSync(file, uses(0));
  await api('/reload', {});
  const before = await api<object>('/pipelines/uses');
  writeFileSync(file, uses(15));
  const { held, took } = await heldDuring(async () => {
    const { body } = await api('/reload', {});
    expect(JSON.stringify(body)).toContain('takes too much to check');
  });
  expect(held).toBeLessThan(Math.max(MAX_HELD_MS, took / 4));
  expect((await api<object>('/pipelines/uses')).body).toEqual(before.body);
});

test('the validation of a definition with large schemas holds it no longer', async () => {
  const { held, took } = await heldDuring(async () => {
    const { body } = await api('/pipelines/validate', { yaml: pipeline('another') });
    expect(body).toMatchObject({ valid: true });
  });
  expect(held).toBeLessThan(Math.max(MAX_HELD_MS, took / 2));
});

test('a what-if for 960 branches of a pipeline reads its text once', { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 960 }, (_, at) => `branch${at}`);
  const branches = names.map((name) => `      - {name: ${name}, executor: webhook, url: 'http://a'}\n`);
  const groups = Array.from({ length: 60 }, (_, at) => branches.slice(at * 16, (at + 1) * 16).join(''));
  const text = groups.map((steps, at) => `- name: group${at}\n  parallel:\n    steps:\n${steps}`).join('');
  writeFileSync(join(pipelines, 'broad.yaml'), `name: broad\nsteps:\n${text}`);
  await api('/reload', {});
  const whatIf = { readiness: { operational: {} }, apply_to: [...names, ...names.slice(1, 9)] };
  const { held } = await heldDuring(async () => {
    const { status, body } = await api<{ applied_to: string[] }>(
      '/pipelines/broad/promotion-readiness/preview',
      whatIf,
    );
    expect([status, body.applied_to?.length]).toEqual([200, 960]);
  });
  expect(held).toBeLessThan(MAX_HEALTH_MS);
});

test('the gateway goes on answering while it reloads agents with large schemas', { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 40 }, (_, at) => `heavy${at}`);
  for (const name of names) {
    mkdirSync(join(agents, name), { recursive: true });
    const config = { name, model: 'demo/any', output_schema: schema(name) };
    writeFileSync(join(agents, name, 'agent.yaml'), JSON.stringify(config));
    writeFileSync(join(agents, name, 'soul.md'), 'Be brief.\n');
  }
  const { gateway, tokens } = services;
  const { held, took } = await heldDuring(async () => {
    const answer = await call<{ agents_loaded: number }>(`${gateway.url}/reload`, {
      body: {},
      token: tokens.gateway_admin,
      timeoutMs: 60_000,
    });
    expect(answer.body.agents_loaded).toBe(names.length);
  }, gateway);
  expect(held).toBeLessThan(Math.max(MAX_HELD_MS, took / 10));
});
