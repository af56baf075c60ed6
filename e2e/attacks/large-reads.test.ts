import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { probeHealth } from './probe-health.ts';
import { configureShop } from './shop-site.ts';

const AT_ONCE = 30;
/** Each answer of 47 MB is written in one turn of the event loop. */
const MAX_HEALTH_MS = 10_000;
const STEPS = 128;
const SAMPLES = 100;
const idOf = (n: number) => `0190a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const LARGE = idOf(1);
const BATCH = idOf(2);
const wordsOf = (length: number) => 'many words '.repeat(length / 11);

const scratch = scratchDirectory('large-reads-');
const file = join(scratch.path, 'runs.db');
const config = configureShop(scratch.path, file);
let service: Service;

beforeAll(async () => {
  service = await startService('api-server', config);
  await call(`${service.url}/webhook?source=alert_router`, {
    body: { alerts: [{ status: 'firing', labels: { namespace: 'shop' } }] },
  });
  await waitFor(async () => (await get<{ total: number }>('/runs?status=completed')).body.total === 1, {
    what: 'the end of the run',
  });
  await service.stop();
  fill();
  service = await startService('api-server', config, { nodeFlags: ['--max-old-space-size=512'] });
});
afterAll(async () => {
  await service?.stop();
  scratch.remove();
});

const get = <T>(path: string) => call<T>(`${service.url}${path}`, { timeoutMs: 60_000 });

/** A run of 47 MB, and a batch of replays of steps that answered 1 MB each. */
function fill(): void {
  const db = new DatabaseSync(file);
  const copyOf = (table: string) => {
    const { seq: _, ...one } = db.prepare(`SELECT * FROM ${table} LIMIT 1`).get() ?? {};
    return (changed: object) => insert(table, { ...one, ...changed });
  };
  const insert = (table: string, row: object) => {
    const keys = Object.keys(row);
    const places = keys.map(() => '?').join(', ');
    db.prepare(`INSERT INTO ${table} (${keys.join(', ')}) VALUES (${places})`).run(...Object.values(row));
  };
  const addRun = copyOf('runs');
  const addOne = copyOf('step_executions');
  const addStep = (run: string, name: string, changed: object) =>
    addOne({ id: `${run}/${name}`, run_id: run, step_name: name, status: 'completed', ...changed });
  db.exec('PRAGMA synchronous = OFF; BEGIN');
  const context = { source: 'generic', summary: 'Shop is slow', severity: null, fingerprint: null };
  addRun({
    id: LARGE,
    dedup_key: null,
    context: JSON.stringify({
      ...context,
      team: null,
      pipeline: 'shop',
      labels: {},
      annotations: {},
      metadata: {},
      receivedAt: 1,
    }),
  });
  const output = JSON.stringify({ text: wordsOf(120_000) });
  const raw_response = JSON.stringify({ prompt: wordsOf(250_000) });
  for (let at = 0; at < STEPS; at++) addStep(LARGE, `step${at}`, { step_index: at, output, raw_response });
  addRun({ id: BATCH, dedup_key: null, source: 'replay' });
  const replay = { kind: 'step', stepName: 'one', mode: 'rendered', bucket: null, candidate: {}, k: SAMPLES };
  const descriptor = JSON.stringify({ ...replay, judge: null, checksNotRun: [] });
  insert('replays', { run_id: BATCH, kind: 'step', step_name: 'one', descriptor });
  const long = JSON.stringify({ text: wordsOf(1_000_000) });
  for (let position = 0; position < SAMPLES; position++) {
    const run = idOf(100 + position);
    addRun({ id: run, dedup_key: null });
    addStep(run, 'one', { output: long, agent: 'triage', primary_confidence: 0.9 });
    const source = { step_id: `${run}/one`, source_run_id: run, outcome: 'correct', label_source: 'human' };
    insert('replay_samples', { run_id: BATCH, position, ...source, pinned: 0 });
  }
  db.exec('COMMIT');
  db.close();
}

const tool = (name: string) => () =>
  call<{ result: { isError?: boolean; content: { text: string }[] } }>(`${service.url}/mcp`, {
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { id: LARGE } } },
    timeoutMs: 60_000,
  });

test.each([
  ['a large run', () => get(`/runs/${LARGE}`)],
  ['explain_run of a large run', tool('explain_run')],
  ['the queue of long answers to mark', () => get('/marking?limit=200')],
  [
    'a rerun of a large run',
    () => call(`${service.url}/runs/${LARGE}/rerun`, { body: { from_step: 'one' }, timeoutMs: 60_000 }),
  ],
  ['the report of a large batch', () => get(`/replays/${BATCH}/report`)],
] as const)(
  '%s, asked for thirty times at once, ends nothing and holds up nobody',
  { timeout: 120_000 },
  async (_, ask) => {
    const probe = probeHealth(service.url);
    const statuses = await Promise.all(Array.from({ length: AT_ONCE }, async () => (await ask()).status));
    probe.stop();
    expect(statuses.filter((status) => ![200, 202, 503].includes(status))).toEqual([]);
    expect(statuses.some((status) => status < 300)).toBe(true);
    expect(probe.slowest()).toBeLessThan(MAX_HEALTH_MS);
  },
);
