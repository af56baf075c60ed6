import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';

const STEP = { name: 'ask', executor: 'human', prompt_template: 'Look', timeout_seconds: 3600 };
const REFUSED = 'namespace "shop" may have 2 active runs (max_runs of tenancy.namespaces); try again later';
const scratch = scratchDirectory('tenant-limits-');
const databases: AttackedDatabase[] = [];
const services: Service[] = [];
const stopAll = () => Promise.all(services.splice(0).map((service) => service.stop()));
afterEach(stopAll);
afterAll(async () => {
  for (const database of databases) await database.remove();
  scratch.remove();
});

/** An api-server whose namespace `shop` may have two active runs. */
async function site(kind: (typeof KINDS)[number]) {
  const folder = join(scratch.path, kind);
  mkdirSync(join(folder, 'managed/pipelines'), { recursive: true });
  const database = await attackedDatabase(kind, folder);
  databases.push(database);
  const config = join(folder, 'config.yaml');
  const tokens = ['webhook', 'viewer', 'admin'].map((role) => ({ name: role, token: `${role}-of-the-test`, role }));
  const tenancy = { namespaces: { shop: { max_runs: 2 } } };
  const settings = { managed_dir: 'managed', database: { url: database.url }, auth: { tokens }, tenancy };
  writeFileSync(config, JSON.stringify({ server: { host: '127.0.0.1', port: 0 }, ...settings }));
  return {
    /** As if `shop` had this pipeline and no other. */
    define: (name: string) => {
      rmSync(join(folder, 'managed/pipelines'), { recursive: true });
      mkdirSync(join(folder, 'managed/pipelines'));
      const pipeline = { name, stage: 'production', trigger: { match: {} }, steps: [STEP] };
      writeFileSync(join(folder, `managed/pipelines/${name}.yaml`), JSON.stringify(pipeline));
      const owner = { kind: 'Pipeline', namespace: 'shop', name, uid: name, generation: 1, hash: '' };
      const manifest = { namespace: 'ops', files: { [`pipelines/${name}.yaml`]: owner }, objects: [], agents: {} };
      writeFileSync(join(folder, 'managed/manifest.json'), JSON.stringify(manifest));
    },
    start: async () => {
      const service = await startService('api-server', config);
      services.push(service);
      return service;
    },
  };
}

async function alert({ url }: Service) {
  const alerts = [{ status: 'firing', labels: { alertname: 'Busy', severity: 'critical' }, annotations: {} }];
  const sent = { token: 'webhook-of-the-test', body: { alerts } };
  const { status, body } = await call<{ pipeline?: string; detail?: { message: string } }>(
    `${url}/webhook?source=alert_router`,
    sent,
  );
  return [status, body.detail?.message ?? body.pipeline];
}

describe.each([...KINDS])('a tenant on %s', (kind) => {
  test('that renames its pipelines keeps its active runs, after a restart too', async () => {
    const { define, start } = await site(kind);
    define('first');
    const before = await start();
    expect(await alert(before)).toEqual([202, 'first']);
    expect(await alert(before)).toEqual([202, 'first']);
    await stopAll();
    define('second');
    expect(await alert(await start())).toEqual([429, REFUSED]);
  });
});

describe.runIf(KINDS.includes('postgres'))('a tenant on two replicas', () => {
  test('that renames its pipelines keeps its active runs on the one that never saw the former name', async () => {
    const { define, start } = await site('postgres');
    define('first');
    const one = await start();
    expect(await alert(one)).toEqual([202, 'first']);
    expect(await alert(one)).toEqual([202, 'first']);
    define('second');
    const two = await start();
    expect(await alert(two)).toEqual([429, REFUSED]);
    await call(`${one.url}/reload`, { token: 'admin-of-the-test', method: 'POST' });
    expect(await alert(one)).toEqual([429, REFUSED]);
  });
});
