import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import type { RunEvent } from '../../../runs/state/model.ts';
import { unmarkedSteps, withAnswers } from '../../aggregates/unmarked-steps.ts';
import { bytesOfReport, MOST_OUTPUT_BYTES, recordedRows } from '../../aggregates/replay-rows.ts';
import { createExports } from '../../../service/exports/exports.ts';
import { appendEvents } from '../event-writes.ts';
import { listRuns } from '../list-runs.ts';
import { readRecorded } from '../replay/recorded-runs.ts';
import { readStep } from '../replay/replays.ts';
import { createDeclared } from '../results/declared.ts';
import { resultsOf } from '../results/results.ts';
import { runDetail } from '../run-detail.ts';
import { searchAll } from '../search/search-job.ts';
import { readOutcome } from '../sub-runs/outcome.ts';
import { readEvents } from './run-bodies.ts';
import { bytesOfRuns } from './text-sizes.ts';

const QUIET = { info: () => undefined, warn: () => undefined };
const LONG = { labels: { alertname: 'DiskFull' }, annotations: { text: 'é "quoted" '.repeat(200) }, metadata: {} };
const RAW = { alerts: [{ status: 'firing', text: 'x'.repeat(900) }] };
const event = (seq: number) =>
  ({ seq, ts: seq, type: 'log', step: null, message: `line ${seq}` }) as unknown as RunEvent;

const part = {
  agent: 'judge',
  model: 'm',
  provider: 'p',
  inputTokens: 7,
  outputTokens: 3,
  cost: 0.5,
  source: 'manual',
};
/** What only JSON says as it is: signs of control, halves of pairs, keys like those of objects. */
const PROMPT = 'Look at "é"\n\u001e\u0000\ud800 {{labels}} '.repeat(40);
const LOOK = {
  agent: 'triage',
  executor: 'gateway',
  primary_confidence: 0.8,
  summary: 'The disk is full',
  output: '{"action":["grow","the disk"],"__proto__":{"n":1e21}}',
  trust_report: JSON.stringify({
    signals: [],
    trust: 0.8,
    threshold: 0.7,
    passed: true,
    action: 'pass',
    sentence: 's',
  }),
  checks: '[{"name":"still","type":"webhook","passed":true,"detail":"","durationSeconds":1}]',
  artifacts: '["report.md"]',
  next_step_context: '"grow it"',
  raw_response: JSON.stringify({
    prompt: PROMPT,
    text: 'yes',
    trace: [{ tool: 'df' }],
    costs: [{ ...part, part: 'verifier' }],
  }),
} as const;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  const texts = { context: JSON.stringify(LONG), raw: JSON.stringify(RAW) };
  await store.addRun(1, texts);
  await store.addRun(2, { ...texts, status: 'running', completed_at: null });
  await store.addRun(3, { context: '{"labels":{}}', raw: null });
  await store.addRun(4, { context: JSON.stringify(LONG), raw: null });
  await store.database.write(({ db }) =>
    db
      .insertInto('definitions')
      .values({ hash: 'abc', kind: 'Pipeline', name: 'p', body: '{}', stored_at: 1 })
      .execute(),
  );
  for (const run of [1, 2, 4]) {
    await store.addStep(runIdOf(run), 'look', LOOK);
    await store.addStep(runIdOf(run), 'report', { step_index: 1, output: null, raw_response: '{"prompt":"x"}' });
  }
  await events(1, [[1, 2], [3], [4, 5, 6]]);
  await events(2, [[1, 2], [3]]);
  await events(4, [[1]]);
});
afterAll(() => store.close());

const events = (run: number, rows: number[][]) =>
  store.database.write(async (tx) => {
    for (const [first = 0, ...others] of rows) {
      const json = JSON.stringify([first, ...others].map(event));
      await appendEvents(tx, runIdOf(run), { firstSeq: first, json });
    }
  });

async function exported(): Promise<string> {
  const pages = createExports(store.database).rows(
    'steps',
    { format: 'jsonl' },
    {
      by: null,
      signal: AbortSignal.timeout(10_000),
    },
  );
  let text = '';
  for await (const page of pages) text += Buffer.from(page).toString();
  return text;
}

/** What a reader sees of every run. */
async function seen() {
  const { db } = store.database;
  const ids = [1, 2, 3, 4].map(runIdOf);
  const { runs } = await listRuns(db, {}, { limit: 10, offset: 0 });
  const ofRun = async (id: string) => {
    const detail = await runDetail(db, id, { raw: true });
    return {
      context: detail?.context,
      raw: detail?.raw,
      steps: detail?.steps,
      events: await readEvents(db, id, 0),
      later: await readEvents(db, id, 3),
      recorded: await readRecorded(db, { runId: id, fanOut: 'look' }),
      step: await readStep(db, id, 'look'),
      outcome: await readOutcome(db, id),
    };
  };
  return {
    runs: await Promise.all(ids.map(ofRun)),
    listed: await resultsOf(db, runs, createDeclared(db)),
    replayed: await recordedRows(
      db,
      ids.map((id) => `${id}/look`),
    ),
    unmarked: await withAnswers(db, (await unmarkedSteps(db, {}, 10)).steps),
    exported: await exported(),
  };
}

test('a run reads the same before and after its texts were packed, and a live one keeps them', async () => {
  const { database } = store;
  const before = await seen();
  expect(before.runs[0]).toMatchObject({ context: LONG, raw: RAW, events: [1, 2, 3, 4, 5, 6].map(event) });
  expect(before.runs[0]?.later).toEqual([4, 5, 6].map(event));
  expect(before.runs[0]?.step?.rawResponse?.prompt).toBe(PROMPT);
  expect(before.exported).toContain('grow');
  expect(before.replayed[0]?.inputTokens).toBeNull();
  const { runs: listed } = await listRuns(database.db, {}, { limit: 10, offset: 0 });
  await searchAll({ database, upTo: 4, log: QUIET });
  // A list may have read its runs just before.
  expect(await resultsOf(database.db, listed, createDeclared(database.db))).toEqual(before.listed);
  expect(await seen()).toEqual(before);
  const rows = await database.db.selectFrom('runs').select(['seq', 'context', 'raw']).orderBy('seq').execute();
  expect(rows.map(({ context }) => context === '{}')).toEqual([true, false, true, true]);
  expect(rows[0]?.raw).toBeNull();
  const steps = await database.db.selectFrom('step_executions').selectAll().orderBy('id').execute();
  const long = steps.filter((row) => Object.values(row).some((value) => String(value).length > 250));
  expect(long.map(({ run_id }) => run_id)).toEqual([runIdOf(2)]);
  expect(steps[0]?.raw_response).toBe(`{"packed":true,"costs":[${JSON.stringify({ ...part, part: 'verifier' })}]}`);
  const bodies = await database.db.selectFrom('run_bodies').selectAll().orderBy('seq').execute();
  expect(bodies.map(({ seq }) => seq)).toEqual([1, 3, 4]);
  expect(bodies[0]?.body.length).toBeLessThan(900);
});

test('a message that is sent after the end of a packed run adds its line, and removing the run removes its body', async () => {
  const { database } = store;
  await events(1, [[7]]);
  expect((await readEvents(database.db, runIdOf(1), 0)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const left = await database.db.selectFrom('run_events').select('events').where('run_id', '=', runIdOf(1)).execute();
  expect(left.map((row) => (JSON.parse(row.events) as RunEvent[]).map(({ seq }) => seq))).toEqual([[6], [7]]);
  await database.write((tx) => tx.db.deleteFrom('runs').where('id', '=', runIdOf(1)).execute());
  expect(await database.db.selectFrom('run_bodies').select('seq').orderBy('seq').execute()).toEqual([
    { seq: 3 },
    { seq: 4 },
  ]);
});

test('a run whose stored texts cannot be read is named in the log and holds up no other', async () => {
  const { database } = store;
  await store.addRun(5, { context: '{"labels":' });
  await database.write(({ db }) =>
    db
      .insertInto('run_events')
      .values({ run_id: runIdOf(5), first_seq: 1, events: '[{"seq":1' })
      .execute(),
  );
  await store.addRun(6, { context: JSON.stringify(LONG) });
  const said: object[] = [];
  await searchAll({ database, upTo: 6, log: { ...QUIET, warn: (fields) => said.push(fields) } });
  expect(said).toEqual([expect.objectContaining({ run_id: runIdOf(5) })]);
  const bodies = await database.db.selectFrom('run_bodies').select('seq').where('seq', '>', 4).execute();
  expect(bodies).toEqual([{ seq: 6 }]);
});

test('a long answer is cut in a report, and how much is read is known before, packed or not', async () => {
  const { database } = store;
  const { db } = database;
  const id = await store.addRun(7, { context: JSON.stringify(LONG) });
  const output = JSON.stringify({ text: 'long '.repeat(80_000) });
  await store.addStep(id, 'look', { ...LOOK, output });
  const seenNow = async () => ({
    rows: (await recordedRows(db, [`${id}/look`])).map((row) => row.output),
    report: await bytesOfReport(db, 'none', { stepIds: [`${id}/look`] }),
    run: await bytesOfRuns(db, [id]),
  });
  const before = await seenNow();
  expect(before.rows).toEqual([{ cut: `${output.slice(0, MOST_OUTPUT_BYTES)}…` }]);
  await searchAll({ database, upTo: 7, log: QUIET });
  const after = await seenNow();
  expect((await runDetail(db, id, { raw: false }))?.steps[0]?.output).toEqual(JSON.parse(output));
  expect(after.rows).toEqual(before.rows);
  for (const { report, run } of [before, after]) {
    expect(report).toBeGreaterThan(MOST_OUTPUT_BYTES);
    expect(report).toBeLessThan(2 * MOST_OUTPUT_BYTES);
    expect(run).toBeGreaterThan(output.length);
    expect(run).toBeLessThan(output.length + 20_000);
  }
});
