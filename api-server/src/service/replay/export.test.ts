import { afterEach, expect, test } from 'vitest';
import { type Script, sure } from '../../runs/fixtures/engine.ts';
import { type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const SAID = ['=1+1', '+a', '-a', '@a', '\ta', '\ra', 'a "quoted", and\nbroken line', '=a,b'];
const investigator: Script = ({ input, model }) => ({
  ...sure(0.9),
  summary: model === undefined ? 'recorded' : SAID[Number(/at (\d)/.exec(input)?.[1])],
});
const start = async () => {
  site = await startReplayServer({ agents: { investigator } });
  for (const index of SAID.keys()) await site.record({ summary: String(index) });
  return (await site.replay()).run_id as string;
};

test('the rows of a report as lines of JSON', async () => {
  const runId = await start();
  const answer = await site.send('GET', `/replays/${runId}/export?format=jsonl`, { role: 'viewer' });
  expect(answer.status).toBe(200);
  const { rows } = await site.report(runId);
  const lines = answer.text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    (rows as { recorded: { run_id: string } }[]).map((row) => ({
      run_id: runId,
      step_name: 'look',
      source_run_id: row.recorded.run_id,
      ...row,
    })),
  );
});

test('the rows as CSV: CRLF, quoted where needed, and no cell begins as a formula', async () => {
  const runId = await start();
  const { text, status } = await site.send('GET', `/replays/${runId}/export?format=csv`, { role: 'viewer' });
  expect(status).toBe(200);
  const [head] = text.split('\r\n');
  expect(head?.split(',').slice(0, 7)).toEqual([
    'run_id',
    'step_name',
    'source_run_id',
    'sample_step_id',
    'recorded_label',
    'recorded_label_source',
    'status',
  ]);
  const columns = head?.split(',') ?? [];
  const records = parse(text);
  expect(records).toHaveLength(1 + SAID.length);
  const said = records.slice(1).map((cells) => cells[columns.indexOf('candidate_summary')]);
  expect(said.toReversed()).toEqual(["'=1+1", "'+a", "'-a", "'@a", "'\ta", "'\ra", SAID[6], "'=a,b"]);
  expect(records[1]?.[columns.indexOf('deterministic_passed')]).toBe('true');
  expect(JSON.parse(records[1]?.[columns.indexOf('candidate_output')] ?? '')).toEqual({});
});

test('another format is 400, another run 404', async () => {
  const runId = await start();
  expect((await site.send('GET', `/replays/${runId}/export?format=xml`)).status).toBe(400);
  expect((await site.send('GET', `/replays/${runId}/export`)).status).toBe(400);
  const other = await site.send('GET', '/replays/00000000-0000-4000-8000-000000000000/export?format=csv');
  expect(other.status).toBe(404);
});

/** RFC 4180, read without the library that wrote it. */
function parse(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    record.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}
