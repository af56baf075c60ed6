import { expect, test } from 'vitest';
import { pack } from '../bodies/packed-body.ts';
import { type KeyedRow, textPage } from './text-page.ts';

const shape = { format: 'jsonl', columns: ['id', 'summary'], header: true } as const;
const rowsOf = function* (keys: Iterable<number>, taken: number[] = []): Generator<KeyedRow> {
  for (const key of keys) {
    taken.push(key);
    yield { page_key: key, id: key, summary: 'x'.repeat(1_000) };
  }
};
const countTo = function* (end: number) {
  for (let n = 1; n <= end; n += 1) yield n;
};
const linesOf = (text: Uint8Array) => new TextDecoder().decode(text).trimEnd().split('\n');

test('a page ends once it is full, whatever more there is, and reads nothing beyond its end', () => {
  const taken: number[] = [];
  const { text, last } = textPage(rowsOf(countTo(1_000_000), taken), shape);
  expect(text.byteLength).toBeGreaterThan(60_000);
  expect(text.byteLength).toBeLessThan(70_000);
  const lines = linesOf(text);
  expect([lines.length, taken.length]).toEqual([last, lines.length + 1]);
});

test('rows of one key stay in one page, and the last page has no end', () => {
  const { text, last } = textPage(rowsOf([...Array.from({ length: 200 }, () => 1), 2]), shape);
  expect([linesOf(text).length, last]).toEqual([200, 1]);
  expect(textPage(rowsOf([1, 2, 3]), shape).last).toBeNull();
});

test('cells of CSV: JSON, times, flags and amounts; the header only where it is asked for', () => {
  const columns = ['output', 'started_at', 'deterministic_passed', 'cost'];
  const row = { page_key: 1, output: '{"a":"b, c"}', started_at: 0, deterministic_passed: 1, cost: 0.1 + 0.2 };
  const csv = (header: boolean) => new TextDecoder().decode(textPage([row], { format: 'csv', columns, header }).text);
  const line = '"{""a"":""b, c""}",1970-01-01T00:00:00.000Z,true,0.3\r\n';
  expect(csv(true)).toBe(`output,started_at,deterministic_passed,cost\r\n${line}`);
  expect(csv(false)).toBe(line);
});

test('texts that were packed with their run come back to each of its steps, and each body is read once', async () => {
  const bodyOf = (run: number) =>
    pack(
      '{"context":{"é":[{"steps":[]}]},"raw":null,"events":[]}',
      ['look', 'act'].flatMap((step) => [
        { step, column: 'checks' as const, json: '[]' },
        { step, column: 'output' as const, json: `{"of":"${step} ${run} – é"}` },
      ]),
    );
  const bodies = new Map([
    [1, await bodyOf(1)],
    [2, await bodyOf(2)],
  ]);
  const row = (key: number, step_name: string, output = '') => ({ page_key: key, step_name, output });
  const rows = [row(1, 'look'), row(1, 'act'), row(2, 'look'), row(3, 'look', '{"of":"nobody"}'), row(4, 'look')];
  const columns = ['step_name', 'output'];
  const read: number[] = [];
  const { text } = textPage(rows, { format: 'jsonl', columns, header: false }, (key) => {
    read.push(key);
    return bodies.get(key);
  });
  expect(linesOf(text).map((line) => (JSON.parse(line) as { output: { of: string } | null }).output?.of)).toEqual([
    'look 1 – é',
    'act 1 – é',
    'look 2 – é',
    'nobody',
    undefined,
  ]);
  expect(read).toEqual([1, 2, 4]);
});
