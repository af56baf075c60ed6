import { AgentRunResult, AgentRunSpent } from '@signalbox/crds';
import { expect, test, vi } from 'vitest';
import { finishedRun } from '../runs/run.ts';
import type { RunOutcome } from '../runs/run-outcome.ts';
import { encodeReply } from './one-frame.ts';

const LIMITS = { maxFrameBytes: 1024 * 1024, maxFrameValues: 50_000 };
const at = { started_at: '2026-01-01T00:00:00Z', duration_ms: 1, server: 'k8s' };
const TRACE = [
  { ...at, type: 'tool_denied', tool: 'delete', reason: 'no deletes' },
  {
    ...at,
    type: 'tool_call',
    tool: 'restart',
    input: { list: Array(24_000).fill(0) },
    result: 'done',
    is_error: false,
  },
];
const KEPT = [
  { type: 'tool_denied', tool: 'delete', reason: 'no deletes' },
  { type: 'tool_call', server: 'k8s', tool: 'restart', is_error: false },
];

const used = { tool_calls: 2, usage: { input_tokens: 7, output_tokens: 3 }, trace: TRACE };
const answered = (text: string, output: object = {}): RunOutcome => ({
  ok: true,
  result: AgentRunResult.parse({ run_id: 'r', status: 'completed', text, output, duration_ms: 1, ...used }),
});
const failed = (message: string): RunOutcome => ({
  ok: false,
  type: 'timeout',
  message,
  retryable: true,
  partial: AgentRunSpent.parse(used),
});

function sentOf(outcome: RunOutcome) {
  const text = encodeReply(1, finishedRun('r', outcome), LIMITS);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMITS.maxFrameBytes);
  return JSON.parse(text) as { result?: object; error?: { data: object } };
}

const LONG = 'x'.repeat(1_040_000);

test.each([
  ['is long', answered('x'.repeat(1_000_000))],
  ['has many values', answered('', { list: Array(40_000).fill(0) })],
])('an answer that %s takes no call and no refusal out of the trace, only what was said in them', (_, outcome) => {
  const { result } = sentOf(outcome);
  expect(result).toMatchObject({ run_id: 'r', tool_calls: 2, trace: KEPT, trace_cut: true });
  expect(JSON.stringify((result as { trace: unknown }).trace).length).toBeLessThan(1_000);
});

test('so it is with a failure', () => {
  expect(sentOf(failed('x'.repeat(1_000_000))).error).toMatchObject({
    data: { type: 'timeout', retryable: true, trace: KEPT, trace_cut: true },
  });
});

test.each([
  ['an answer', answered(LONG, { a: 'x'.repeat(20_000) })],
  ['a failure', failed(`${LONG}${LONG}`)],
])('what was used and done is said of %s that fits no message', (_, outcome) => {
  const { error } = sentOf(outcome);
  expect(error).toMatchObject({ data: { type: 'output_invalid', retryable: false, ...used, trace: KEPT } });
});

test('a reply that fits is sent as it is', () => {
  expect(sentOf(answered('done')).result).toMatchObject({ trace: TRACE });
});

test('what stands in the place of an answer is made once for all who wait, and no shorter than it must be', () => {
  const [run, parse, stringify] = [
    finishedRun('r', answered('x'.repeat(1_000_000))),
    vi.spyOn(JSON, 'parse'),
    vi.spyOn(JSON, 'stringify'),
  ];
  const made = (id: number) => {
    const text = encodeReply(id, run, LIMITS);
    const objects = stringify.mock.calls.filter(([said]) => typeof said === 'object').length;
    return { text, parsed: parse.mock.calls.length, objects };
  };
  const [first, second] = [made(1), made(2)];
  vi.restoreAllMocks();
  expect(first).toMatchObject({ parsed: 1, objects: 1 });
  expect(second).toEqual({ ...first, text: first.text.replace('"id":1', '"id":2') });
});
