import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { type Pipelines, writeManaged } from './tenant-site.ts';

const STEP = { name: 'ask', executor: 'human', prompt_template: 'Look', timeout_seconds: 3600 };
const scratch = scratchDirectory('many-rules-');
let service: Service;

/** Rules that all hold for every alert, and one that does not. */
const rules = (many: number) => ({
  ...Object.fromEntries(Array.from({ length: many - 1 }, (_, at) => [`a${at}`, null])),
  nobody: 'has this',
});

/** Pipelines that are asked first: more rules than a pipeline may have, in few of them, and as many as it may have, in many. */
const TENANTS = ['listed', 'foreign'].flatMap((namespace) => [
  { namespace, pipelines: 3, rules: 4800 },
  { namespace, pipelines: namespace === 'listed' ? 500 : 50, rules: 64 },
]);

beforeAll(async () => {
  mkdirSync(join(scratch.path, 'own'));
  const all: Pipelines = {};
  for (const { namespace, pipelines, rules: many } of TENANTS)
    for (let at = 0; at < pipelines; at++) {
      const trigger = { priority: 1_000_000, match: rules(many) };
      (all[namespace] ??= {})[`${namespace}-${many}-${at}`] = { trigger, steps: [STEP] };
    }
  writeManaged(join(scratch.path, 'managed'), all);
  const own = { name: 'own', stage: 'production', trigger: { match: { job: 'own' } }, steps: [STEP] };
  writeFileSync(join(scratch.path, 'own/own.yaml'), JSON.stringify(own));
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    managed_dir: 'managed',
    pipeline_config_dir: 'own',
    database: { url: `sqlite://${join(scratch.path, 'signalbox.db')}` },
    auth: { allow_unauthenticated: true },
    tenancy: { namespaces: { listed: {} } },
  };
  const config = join(scratch.path, 'config.yaml');
  writeFileSync(config, JSON.stringify(settings));
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

/** A delivery of a thousand alerts, and the slowest answer of `/health` meanwhile. */
async function deliver(job: string) {
  const alerts = Array.from({ length: 1000 }, (_, at) => ({
    status: 'firing',
    labels: { alertname: `Busy${at}`, job },
    annotations: {},
  }));
  const probe = probeHealth(service.url);
  await expect.poll(probe.slowest).toBeLessThan(MAX_HEALTH_MS);
  const url = `${service.url}/webhook?source=alert_router`;
  const { status, body } = await call<{ pipeline?: string }>(url, { body: { alerts }, timeoutMs: 60_000 });
  probe.stop();
  return { status, pipeline: body.pipeline, slowest: probe.slowest() };
}

test('a thousand alerts for a pipeline of the operator pass the rules of tenants, and others are answered meanwhile', async () => {
  const { slowest, ...answer } = await deliver('own');
  expect(answer).toEqual({ status: 202, pipeline: 'own' });
  expect(slowest).toBeLessThan(MAX_HEALTH_MS);
});

test('so do alerts that no pipeline takes', async () => {
  const { slowest, status } = await deliver('nobodys');
  expect(status).toBe(422);
  expect(slowest).toBeLessThan(MAX_HEALTH_MS);
});

test('a pipeline with more rules than it may have is refused with the place', async () => {
  const { body } = await call<{ errors: { name: string; loc: unknown[]; msg: string }[] }>(
    `${service.url}/definitions`,
  );
  const refused = body.errors.filter(({ msg }) => msg === 'may have at most 64 keys');
  expect(new Set(refused.map(({ loc }) => loc.join('.')))).toEqual(new Set(['trigger.match']));
  expect(refused).toHaveLength(6);
});
