import { connect } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { MAX_EXPORTS_OF_TOKEN, MAX_OPEN_EXPORTS } from '../../service/exports/exports.ts';
import { markRun, markStep } from '../../store/tables/feedback.ts';
import { UNREAD_MS } from '../export-stream.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW, runIdOf } from '../fixtures/store.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const text = async (url: string) => {
  const answer = await server.app.inject({ url, headers: as('viewer') });
  return { type: answer.headers['content-type'], status: answer.statusCode, body: answer.body };
};
const lines = async (url: string) =>
  (await text(url)).body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const by = { submittedAt: NOW, submittedBy: 'ada' };
const DAY = 86_400_000;

test('runs, steps and marks as JSONL, the oldest first', async () => {
  const id = await server.store.addRun(1, { cost: 0.1 + 0.2, summary: 'Slow' });
  await server.store.addStep(id, 'look', { deterministic_passed: 0, output: '{"action":"restart"}' });
  await server.store.addRun(2, { status: 'running', completed_at: null });
  await server.store.database.write((tx) => markRun(tx, { ...by, runId: id, outcome: 'partial', notes: 'so so' }));
  await server.store.database.write((tx) =>
    markStep(tx, { ...by, runId: id, stepName: 'look', outcome: 'correct', notes: null }),
  );
  const answer = await text('/exports/runs');
  expect([answer.status, answer.type]).toEqual([200, 'application/x-ndjson']);
  expect(await lines('/exports/runs')).toMatchObject([
    {
      id,
      pipeline_name: 'checkout',
      triggered_at: '2026-11-21T12:00:00.000Z',
      duration_seconds: 1.5,
      cost: 0.3,
      feedback_outcome: 'partial',
    },
    { id: runIdOf(2), status: 'running', completed_at: null, duration_seconds: null, feedback_outcome: null },
  ]);
  expect(await lines('/exports/steps')).toMatchObject([
    { run_id: id, step_name: 'look', deterministic_passed: false, output: { action: 'restart' }, duration_seconds: 1 },
  ]);
  const marks = await lines('/exports/marks');
  expect(marks.toSorted((a, b) => (String(a['step_name']) < String(b['step_name']) ? -1 : 1))).toMatchObject([
    { run_id: id, step_name: 'look', outcome: 'correct', notes: null, submitted_by: 'ada' },
    { run_id: id, step_name: null, outcome: 'partial', notes: 'so so', submitted_at: '2026-11-21T12:00:00.000Z' },
  ]);
});

test('since, until and pipeline leave out the others', async () => {
  await server.store.addRun(1, { triggered_at: NOW - 2 * DAY });
  await server.store.addRun(2, { triggered_at: NOW - DAY, pipeline_name: 'disk' });
  await server.store.addRun(3, { triggered_at: NOW, pipeline_name: 'disk' });
  const ids = async (query: string) => (await lines(`/exports/runs?${query}`)).map(({ id }) => id);
  expect(await ids(`since=2026-11-20T12:00:00Z`)).toEqual([runIdOf(2), runIdOf(3)]);
  expect(await ids(`until=2026-11-21T12:00:00Z&pipeline=disk`)).toEqual([runIdOf(2)]);
  expect(await ids('pipeline=none')).toEqual([]);
  for (const query of ['format=xml', 'since=yesterday', 'team=a'])
    expect((await text(`/exports/runs?${query}`)).status).toBe(400);
});

test('CSV keeps commas, quotes and line breaks in their cells, and no cell is a formula', async () => {
  const summaries = ['=HYPERLINK("http://x")', '+1', '-1', '@a', '\tx', '\rx', 'a, "b"\nc'];
  for (const [n, summary] of summaries.entries()) await server.store.addRun(n + 1, { summary });
  const { body, type } = await text('/exports/runs?format=csv');
  expect(type).toBe('text/csv; charset=utf-8');
  const [header, ...rest] = body.split('\r\n');
  expect(header?.split(',').slice(0, 3)).toEqual(['id', 'pipeline_name', 'source']);
  expect(header).not.toBe(rest[0]);
  const cells = ['"\'=HYPERLINK(""http://x"")"', "'+1", "'-1", "'@a", "'\tx", '"\'\rx"', '"a, ""b""\nc"'];
  for (const cell of cells) expect(body).toContain(`,${cell},`);
  expect((await text('/exports/deliveries?format=csv')).body).toMatch(/^id,received_at,source,outcome/);
});

test('more rows than one page holds come once each, and the header once', async () => {
  for (let n = 1; n <= 403; n += 1) await server.store.addRun(n);
  await server.store.database.write((tx) =>
    tx.db.deleteFrom('runs').where('seq', '>', 120).where('seq', '<', 320).execute(),
  );
  const ids = (await lines('/exports/runs')).map(({ id }) => id);
  expect(ids).toHaveLength(204);
  expect(new Set(ids).size).toBe(204);
  expect((await text('/exports/runs?format=csv')).body.match(/pipeline_name/g)).toHaveLength(1);
});

/** Pages without end, each of 64 KiB, and what is known of their reading. */
function endless() {
  const reading = { pages: 0, ended: false };
  server.services.exports.rows = async function* () {
    try {
      for (;;) {
        reading.pages += 1;
        yield new Uint8Array(64 * 1024);
      }
    } finally {
      reading.ended = true;
    }
  };
  return reading;
}

/** What the sockets of both sides may hold, and far more than the service should. */
const MOST_PAGES = 512;

test('a reader that stops taking what comes holds a bounded part of it up, and one that goes away ends the reading', async () => {
  const reading = endless();
  const base = await server.app.listen({ host: '127.0.0.1', port: 0 });
  const abort = new AbortController();
  const response = await fetch(`${base}/exports/runs`, { headers: as('viewer'), signal: abort.signal });
  await response.body?.getReader().read();
  let [seen, still] = [0, 0];
  while (still < 200 && reading.pages <= MOST_PAGES) {
    await new Promise((resolve) => setImmediate(resolve));
    still = reading.pages === seen ? still + 1 : 0;
    seen = reading.pages;
  }
  expect(reading.pages).toBeLessThanOrEqual(MOST_PAGES);
  expect(reading.ended).toBe(false);
  abort.abort();
  await vi.waitFor(() => expect(reading.ended).toBe(true), { timeout: 20_000 });
});

test('exports that hold a page have a limit', async () => {
  await server.store.addRun(1);
  const signal = AbortSignal.timeout(60_000);
  const opened = async (by: string | null, length: number) => {
    const open = Array.from({ length }, () =>
      server.services.exports.rows('runs', { format: 'jsonl' }, { by, signal }),
    );
    for (const rows of open) await rows.next();
    return open;
  };
  const viewer = await opened('the-viewer', MAX_EXPORTS_OF_TOKEN);
  expect((await text('/exports/runs')).status).toBe(429);
  await viewer[0]?.return(undefined);
  expect((await text('/exports/runs')).status).toBe(200);
  const others = await opened(null, MAX_OPEN_EXPORTS - MAX_EXPORTS_OF_TOKEN + 1);
  expect((await text('/exports/runs')).status).toBe(429);
  await others[0]?.return(undefined);
  expect((await text('/exports/runs')).status).toBe(200);
});

test('an export that nobody reads is closed after a minute', async () => {
  const reading = endless();
  const base = await server.app.listen({ host: '127.0.0.1', port: 0 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const { hostname, port } = new URL(base);
  const client = connect(Number(port), hostname).pause();
  onTestFinished(() => void client.destroy());
  client.write(`GET /exports/runs HTTP/1.1\r\nHost: x\r\nAuthorization: ${as('viewer').authorization}\r\n\r\n`);
  for (let turns = 0; turns < 20_000 && !reading.ended; turns++) {
    await turn();
    vi.advanceTimersByTime(UNREAD_MS / 1000);
  }
  expect(reading.ended).toBe(true);
});
