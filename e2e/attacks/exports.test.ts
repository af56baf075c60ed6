import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { MAX_HEALTH_MS, probeHealth } from './probe-health.ts';
import { residentBytes } from './resident-bytes.ts';
import { configureShop } from './shop-site.ts';

/** By hand a million: `EXPORTED_RUNS=1000000`. */
const RUNS = Number(process.env['EXPORTED_RUNS'] ?? 100_000);
/** A third of it is what the collector leaves. */
const MOST_GROWTH_MIB = 200;

const scratch = scratchDirectory('exports-');
const file = join(scratch.path, 'runs.db');
let service: Service;

beforeAll(async () => {
  const config = configureShop(scratch.path, file);
  service = await startService('api-server', config);
  await call(`${service.url}/pipelines/shop/run`, { body: { summary: 'The checkout answers with errors' } });
  const ended = () => call<{ total: number }>(`${service.url}/runs?status=completed`);
  await waitFor(async () => (await ended()).body.total === 1, { what: 'the end of the run' });
  await service.stop();
  multiply();
  service = await startService('api-server', config);
});
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

/** Copies of that run, in place of months. */
function multiply(): void {
  const db = new DatabaseSync(file);
  const columns = db.prepare(`SELECT name FROM pragma_table_info('runs')`).all();
  const changed: Record<string, string> = {
    seq: 'NULL',
    id: `'0190a000-0000-7000-8000-' || printf('%012x', n.i)`,
    dedup_key: 'NULL',
    triggered_at: 'o.triggered_at + n.i',
  };
  const names = columns.map(({ name }) => String(name));
  db.exec('PRAGMA synchronous = OFF');
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RUNS - 1})
    INSERT INTO runs (${names.join(', ')}) SELECT ${names.map((name) => changed[name] ?? `o."${name}"`).join(', ')}
    FROM n, (SELECT * FROM runs LIMIT 1) AS o`);
  db.exec(`INSERT INTO run_feedback (run_id, outcome, notes, submitted_at, submitted_by)
    SELECT id, 'correct', 'The cause is right.', triggered_at, 'ann' FROM runs`);
  // A run that was started by hand has no delivery.
  db.exec(`INSERT INTO deliveries (received_at, source, outcome, status_code, pipeline, run_id, summary, severity, labels, fingerprint, allow_testing, raw_truncated)
    SELECT triggered_at, 'alert_router', 'accepted', 202, pipeline_name, id, summary, 'critical', '{"alertname":"Slow","namespace":"shop"}', id, 0, 0 FROM runs`);
  // What is measured is the export, and not the search index of these runs beside it.
  db.exec(`UPDATE marks SET value = (SELECT max(seq) FROM runs) WHERE name = 'search:runs'`);
  db.close();
}

const residentMiB = () => residentBytes(service) / 1024 ** 2;

/** How long the first export took, in milliseconds. */
let first = 0;

test.each([
  ['runs', 'jsonl'],
  ['runs', 'csv'],
  ['marks', 'jsonl'],
  ['deliveries', 'jsonl'],
])(`${RUNS} %s as %s come completely, and hold neither memory nor anybody up`, async (kind, format) => {
  const before = residentMiB();
  const began = Date.now();
  const probe = probeHealth(service.url);
  const response = await fetch(`${service.url}/exports/${kind}?format=${format}`);
  let [lines, peak] = [0, before];
  for await (const chunk of response.body ?? []) {
    lines += Buffer.from(chunk).toString('latin1').split('\n').length - 1;
    peak = Math.max(peak, residentMiB());
  }
  probe.stop();
  const took = Date.now() - began;
  first ||= took;
  console.log(
    `${kind} as ${format}: ${lines} lines in ${took} ms, ${Math.round(before)} MiB before, ${Math.round(peak)} MiB at most, /health ${Math.round(probe.slowest())} ms`,
  );
  expect(lines).toBe(RUNS + (format === 'csv' ? 1 : 0));
  expect(peak - before).toBeLessThan(MOST_GROWTH_MIB);
  expect(probe.slowest()).toBeLessThan(MAX_HEALTH_MS);
  // A page costs the same, however many there are: going through all marks for each one took fifty times as long.
  expect(took).toBeLessThan(5 * first);
});
