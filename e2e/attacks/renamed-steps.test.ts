import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { alert, configureTenants, read, tokenOf, writeManaged } from './tenant-site.ts';

const MIB = 1024 * 1024;
/** What Node takes where the chart's limit of 1 GiB holds. */
const nodeFlags = ['--max-old-space-size=512'];
/** Characters of text that the names of one namespace may make. */
const OF_NAMESPACE = 4 * MIB;

/** Steps of an edition that are counted: its branches. */
const EDITION = 64 * 16;

/** A pipeline of 1,024 steps that are refused at once, all with names of this edition. */
const edition = (n: number) => ({
  shop: {
    steps: Array.from({ length: 64 }, (_, group) => ({
      name: `group_${n}_${group}`,
      on_failure: 'continue',
      parallel: {
        steps: Array.from({ length: 16 }, (_step, branch) => ({
          name: `step_${n}_${group}_${branch}_`.padEnd(60, 'x'),
          executor: 'webhook',
          url: 'http://127.0.0.1:9',
        })),
      },
    })),
  },
});

const scratch = scratchDirectory('renamed-steps-');
let config: string;
let service: Service;
beforeAll(async () => {
  const tokens = ['webhook', 'viewer', 'reload'].map((role) => ({ name: role, token: tokenOf(role), role }));
  const site = { pipelines: { shop: edition(0) }, namespaces: { shop: {} }, more: { auth: { tokens } } };
  config = configureTenants(scratch.path, site);
  service = await startService('api-server', config, { nodeFlags });
});
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

async function runOnce(): Promise<void> {
  const { run } = await alert(service, 'shop');
  const ended = async () =>
    (await read<{ completed_at: string | null }>(service, `/runs/${run}`)).completed_at !== null;
  await waitFor(ended, { what: 'the end of the run', timeoutMs: 60_000 });
}

const scrape = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();

test('a tenant that renames its steps again and again makes no more text than its namespace may', async () => {
  for (const n of [0, 1]) {
    writeManaged(join(scratch.path, 'managed'), { shop: edition(n) });
    await call(`${service.url}/reload`, { token: tokenOf('reload'), body: {} });
    await runOnce();
  }
  const text = await scrape();
  expect(text.length).toBeGreaterThan(OF_NAMESPACE / 2);
  expect(text.length).toBeLessThan(OF_NAMESPACE);
  const steps = text.match(/^service_pipeline_steps_total\{.*$/gm) ?? [];
  const others = Number(/ (\d+)$/.exec(steps.find((line) => line.includes('step_name="other"')) ?? '')?.[1]);
  expect(steps.length - 1 + others).toBe(2 * EDITION);
});

/** What a version without these bounds has stored after sixty editions and six runs of 10,000 branches. */
function fill(): void {
  const db = new DatabaseSync(join(scratch.path, 'signalbox.db'));
  db.exec('PRAGMA synchronous = OFF');
  const numbers = (most: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})`;
  for (const [metric, more] of [
    ['pipeline_steps_total', ',"failed"'],
    ['pipeline_step_duration_seconds', ',"1"'],
    ['pipeline_step_duration_seconds_sum', ''],
  ])
    db.exec(`${numbers(60_000)} INSERT INTO counters SELECT '${metric}',
      '["shop","' || printf('%060d', n.i) || '","webhook","","",""${more}]', 1 FROM n`);
  const copy = (table: string, most: number, changed: Record<string, string>) => {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const names = columns.map(({ name }) => String(name));
    const values = names.map((name) => changed[name] ?? `o."${name}"`);
    db.exec(`${numbers(most)} INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')}
      FROM n, (SELECT * FROM ${table} LIMIT 1) AS o`);
  };
  const family = `printf('%040d', n.i / 10000)`;
  const named = { family, step_name: `${family} || '/' || n.i` };
  copy('step_executions', 60_000, { id: `'s' || n.i`, rowid: 'NULL', kind: `'branch'`, ...named });
  db.close();
}

test('a database that is full of names and branches is started, answers and can be scraped', async () => {
  await service.stop();
  fill();
  service = await startService('api-server', config, { nodeFlags });
  const health = probeHealth(service.url);
  try {
    for (let scrapes = 0; scrapes < 2; scrapes++) {
      const text = await scrape();
      expect(text.length).toBeGreaterThan(15 * MIB);
      expect(Number(/^service_metrics_left_out (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(10_000);
    }
    const told = () => service.logs.some(({ msg }) => msg?.startsWith('the roll-ups are not compared'));
    await waitFor(told, { what: 'the check of the roll-ups' });
    expect(health.slowest()).toBeLessThan(MAX_HEALTH_MS);
  } finally {
    health.stop();
  }
});
