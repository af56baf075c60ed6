import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { configureShop } from './shop-site.ts';

const RUNS = 100_000;

const scratch = scratchDirectory('long-lists-');
const file = join(scratch.path, 'runs.db');
const config = configureShop(scratch.path, file);
let service: Service;

beforeAll(async () => {
  service = await startService('api-server', config);
  await startOne();
  await service.stop();
  multiply();
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

const get = <T>(path: string) => call<T>(`${service.url}${path}`);

async function startOne(): Promise<void> {
  const annotations = { summary: 'The checkout answers with errors', description: 'x'.repeat(1_500) };
  const alert = { status: 'firing', fingerprint: 'f', labels: { namespace: 'shop', service: 'checkout' }, annotations };
  const body = { version: '4', status: 'firing', groupKey: 'g', alerts: [alert] };
  await call(`${service.url}/webhook?source=alert_router`, { body });
  await waitFor(async () => (await get<{ total: number }>('/runs?status=completed')).body.total === 1, {
    what: 'the end of the run',
  });
}

/** Copies of that run, its step and a line of the audit log, in place of months. */
function multiply(): void {
  const db = new DatabaseSync(file);
  const copy = (table: string, changed: Record<string, string>) => {
    const columns = db
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name));
    const values = columns.map((column) => changed[column] ?? `o."${column}"`);
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RUNS})
      INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM n, (SELECT * FROM ${table} LIMIT 1) AS o`);
  };
  db.exec('PRAGMA synchronous = OFF');
  const id = `'0190a000-0000-7000-8000-' || printf('%012x', n.i)`;
  copy('runs', { seq: 'NULL', id, dedup_key: 'NULL', triggered_at: 'o.triggered_at + n.i' });
  copy('step_executions', { id: `'step-' || n.i`, run_id: id });
  db.exec(`INSERT INTO audit (ts, actor, actor_kind, action, target_type, target, outcome, prior_yaml)
    VALUES (1, 'somebody', 'token', 'mark', 'run', 'a run', 'correct', printf('%.500c', 'x'))`);
  copy('audit', { id: 'NULL', ts: 'o.ts + n.i' });
  db.close();
}

test.each([
  'label=service:nothing',
  'q=nothing',
  'model=nothing',
  'agent=nothing',
  'severity=nothing',
  'team=nothing',
  'fingerprint=nothing',
  'stage=testing',
  'until=2001-01-01T00:00:00Z',
  'status=failed&pipeline=shop',
  'warnings=false',
  'status=completed,failed',
  'offset=99950',
  'status=completed&offset=99950',
])('a viewer who asks 100,000 runs for %s stops nothing else', async (query) => {
  await stopsNothing(['/runs', '/ui/runs', '/runs', '/runs'].map((path) => `${path}?${query}`));
});

test.each(['actor=nobody', 'target=nothing', 'action=mark', 'offset=99950'])(
  'who asks 100,000 lines of the audit log for %s stops nothing else',
  async (query) => {
    await stopsNothing(['/audit', '/ui/audit', '/audit'].map((path) => `${path}?${query}`));
  },
);

async function stopsNothing(paths: readonly string[]): Promise<void> {
  const probe = probeHealth(service.url);
  const answers = await Promise.all(paths.map((path) => get(path)));
  probe.stop();
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  expect(probe.slowest()).toBeLessThan(MAX_HEALTH_MS);
}
