import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { attackedDatabase } from './attacked-database.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';

const RUNS = 60;
const step = { name: 'one', when: 'false', executor: 'webhook', url: 'http://127.0.0.1:9' };
const question = { name: 'one', executor: 'human', prompt_template: 'Go on?', timeout_seconds: 3600 };
const messages = (count: number, template: string) =>
  Array.from({ length: count }, (_, at) => ({ channel: 'log', template: `${template}${at}` }));
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const deep = {
  vars: { l: Array(6600).fill(1), d: nested(50) },
  template: `{{#each vars.l}}{{@root.vars.d${'.a'.repeat(50)}}}{{/each}}`,
};
const key = `{{#each vars.l}}${'€'.repeat(990)}{{/each}}`;
const PIPELINES = {
  keys: { vars: { l: Array(248).fill(1) }, concurrency: { limit: 1, on_limit: 'reject', key }, steps: [step] },
  escapes: { notifications: { complete: messages(3, '\\{{'.repeat(15_000)) }, steps: [step] },
  ends: { vars: deep.vars, notifications: { complete: messages(8, deep.template) }, steps: [step] },
  questions: { vars: deep.vars, notifications: { approval: messages(8, deep.template) }, steps: [question] },
};

const scratch = scratchDirectory('texts-of-definitions-');
let database: Awaited<ReturnType<typeof attackedDatabase>>;
let service: Service;
beforeAll(async () => {
  mkdirSync(join(scratch.path, 'pipelines'));
  for (const [name, more] of Object.entries(PIPELINES)) {
    const pipeline = { name, stage: 'production', trigger: { match: { kind: name } }, ...more };
    writeFileSync(join(scratch.path, `pipelines/${name}.yaml`), JSON.stringify(pipeline));
  }
  database = await attackedDatabase('sqlite', scratch.path);
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    pipeline_config_dir: 'pipelines',
    database: { url: database.url },
    auth: { allow_unauthenticated: true },
    concurrency: { max_runs: 10, on_full: 'queue', max_queued: 10_000 },
  };
  writeFileSync(join(scratch.path, 'config.yaml'), JSON.stringify(settings));
  service = await startService('api-server', join(scratch.path, 'config.yaml'));
});
afterAll(async () => {
  await service?.stop();
  await database?.remove();
  scratch.remove();
});

const deliver = (kind: string, count: number, name = kind) => {
  const alerts = Array.from({ length: count }, (_, at) => ({
    status: 'firing',
    fingerprint: `${name}${at}`,
    labels: { kind, at: `${at}` },
    annotations: {},
  }));
  const body = { version: '4', status: 'firing', groupKey: 'g', alerts };
  return call(`${service.url}/webhook?source=alert_router&strategy=per_alert`, { body, timeoutMs: 60_000 });
};

async function slowestHealthDuring(work: () => Promise<unknown>): Promise<number> {
  const probe = probeHealth(service.url);
  await waitFor(() => Promise.resolve(probe.slowest() < 500 || null), { what: 'a first answer', timeoutMs: 10_000 });
  await work();
  await call(`${service.url}/health`, { timeoutMs: 60_000 });
  probe.stop();
  return probe.slowest();
}

test('keys of much text for a thousand alerts hold nobody up', async () => {
  const many = () => Promise.all(Array.from({ length: 3 }, (_, at) => deliver('keys', 1000, `keys ${at} `)));
  expect(await slowestHealthDuring(many)).toBeLessThan(MAX_HEALTH_MS);
});

test.each([
  ['that complete, of escaped tags', 'escapes', '/runs?pipeline=escapes&status=completed'],
  ['that complete, of long paths', 'ends', '/runs?pipeline=ends&status=completed'],
  ['that ask people, of long paths', 'questions', '/approvals?status=pending'],
])('messages of runs %s, hold nobody up', { timeout: 90_000 }, async (_what, name, counted) => {
  const told = async () =>
    (await call<{ total: number }>(`${service.url}${counted}`, { timeoutMs: 60_000 })).body.total;
  const work = async () => {
    await deliver(name, RUNS);
    await waitFor(async () => (await told()) === RUNS || null, { what: `${RUNS} runs`, timeoutMs: 60_000 });
  };
  expect(await slowestHealthDuring(work)).toBeLessThan(MAX_HEALTH_MS);
});
