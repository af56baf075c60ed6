import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';

const scratch = scratchDirectory('heavy-definitions-');
const pipelines = join(scratch.path, 'pipelines');
let services: LocalServices;

beforeAll(async () => {
  mkdirSync(pipelines);
  services = await startLocalServices({
    dataDir: scratch.path,
    change: {
      'api-server': (config) => {
        config.pipeline_config_dir = pipelines;
        config.auth = { allow_unauthenticated: true };
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
async function longestHold(): Promise<number> {
  const metrics = await (await fetch(`${services.apiServer.url}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics) ?? [];
  return Number(seconds) * 1000 - WATCHED_EVERY_MS;
}

/** How long the service held its event loop at most, and how long the whole work took. */
async function heldDuring(work: () => Promise<void>): Promise<{ held: number; took: number }> {
  await longestHold();
  const began = performance.now();
  await work();
  const took = performance.now() - began;
  return { held: await longestHold(), took };
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

test('so does the validation of a definition with large schemas', async () => {
  const { held, took } = await heldDuring(async () => {
    const { body } = await api('/pipelines/validate', { yaml: pipeline('another') });
    expect(body).toMatchObject({ valid: true });
  });
  expect(held).toBeLessThan(Math.max(MAX_HELD_MS, took / 2));
});
