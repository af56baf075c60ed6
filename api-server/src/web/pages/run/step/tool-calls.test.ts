import { expect, test } from 'vitest';
import { NOW, runDetail, stepDetail } from '../../fixtures/runs.ts';
import { timelineView } from '../timeline/timeline.ts';
import type { JsonNode } from './json-tree.ts';
import { toolCalls } from './tool-calls.ts';

const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const many = (count: number, entry: object) => Array.from({ length: count }, () => entry);
const stepWith = (trace: object[]) =>
  stepDetail({ started_at: at(0), completed_at: at(10), checks: [], trust_report: null, raw_response: { trace } });

test('waits for a person that no call follows take no time of the page, however many a backend names', () => {
  const trace = [...many(10_000, { type: 'approval', server: 'x' }), ...many(10_000, { type: 'tool_call' })];
  const before = process.threadCpuUsage();
  const calls = toolCalls(stepWith(trace), []);
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
  expect(calls.map(({ name, result }) => `${name}: ${result}`)).toEqual([
    '19000 more entries of the trace: The API has them all.',
  ]);
});

test('a trace of 150,000 entries has a timeline', () => {
  const steps = [stepWith(many(150_000, { type: 'tool_call', started_at: at(1), duration_ms: 9000 }))];
  const view = timelineView({
    run: runDetail({ triggered_at: at(0), completed_at: at(10), steps }),
    steps,
    log: [],
    approvals: [],
    now: NOW + 10_000,
    chosen: 'triage',
    zoomed: false,
    hrefOf: (step) => step,
    pinOf: () => null,
    zoomHref: () => '',
  });
  expect(view.rows[0]?.track.bars).toHaveLength(1000);
});

const rowsIn = (node: JsonNode | null): number =>
  node === null ? 0 : 1 + node.children.reduce((sum, child) => sum + rowsIn(child), 0);

test('the inputs and results of all calls of a step together are a bounded number of rows', () => {
  const entry = { type: 'tool_call', input: many(50, {}), result: JSON.stringify(many(50, {})) };
  const calls = toolCalls(stepWith(many(1_000, entry)), []);
  expect(calls).toHaveLength(1_000);
  expect(calls[0]).toMatchObject({ input: { text: '50 items', more: null }, tree: { text: '50 items', more: null } });
  expect(calls.reduce((sum, { input, tree }) => sum + rowsIn(input) + rowsIn(tree), 0)).toBeLessThan(2_000);
  expect(calls.at(-1)).toMatchObject({ input: { more: 'not shown here; the API has it' }, result: entry.result });
});
