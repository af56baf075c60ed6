import { AgentEvent, MAX_FRAME_BYTES } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { RunEvent } from '../runs/run-event.ts';
import { withRun } from '../testing/hosted-run.ts';
import { podEvent } from './pod-event.ts';

const said = { run_id: 'run-1', ts: '2026-01-01T00:00:00Z' };
const call = { call_id: 'c1', server: 'beside', tool: 'echo' };
const usage = { input_tokens: 1, output_tokens: 2, cached_input_tokens: 0 };

/** What becomes of an event that a pod says. */
async function toldOf(event: object): Promise<RunEvent[]> {
  const told: RunEvent[] = [];
  await withRun(
    async ({ ask }) => {
      await ask('agent.event', { ...said, ...event });
    },
    { emit: (one) => told.push(one) },
  );
  return told;
}

const EVENTS = [
  { event: 'llm_call', iteration: 1, model: 'm', provider: 'p', usage, duration_ms: 3 },
  { event: 'tool_call', ...call, input: { text: 'a'.repeat(90_000) } },
  { event: 'tool_result', ...call, is_error: true, result: `${'a'.repeat(100)}…`, duration_ms: 3 },
  { event: 'tool_denied', ...call, reason: 'no' },
  { event: 'approval_requested', ...call },
  { event: 'approval_decided', ...call, approved: false, decided_by: null },
];

test.each(EVENTS)('an event of a runner is told as it is: $event', async (event) => {
  expect(await toldOf(event)).toEqual([event]);
});

/** No character takes more bytes as JSON. */
const LONG = '\u0000'.repeat(1_000_000);
const long = Object.fromEntries(
  ['model', 'provider', 'call_id', 'server', 'tool', 'result', 'reason', 'input', 'decided_by', 'more'].map((name) => [
    name,
    LONG,
  ]),
);

test.each(EVENTS)('an event of a pod fits a frame, however long its texts are: $event', (event) => {
  const told = podEvent(AgentEvent.parse({ ...said, ...event, ...long }), 100_000);
  expect(told).toMatchObject({ event: event.event });
  expect(Buffer.byteLength(JSON.stringify(told))).toBeLessThan(MAX_FRAME_BYTES - 100_000);
  expect(AgentEvent.safeParse({ ...said, ...told }).success).toBe(true);
});

test.each([
  ['text', { input: { text: 'a'.repeat(1_000_000) } }],
  ['values', { input: Array(20_000).fill(0) }],
  ['values where none belong', { decided_by: Array(20_000).fill(0), usage: Array(20_000).fill(0) }],
])('nor does it hold values without end: %s', async (_, large) => {
  const told = await toldOf({ event: 'tool_call', ...call, input: {}, ...large });
  expect(JSON.stringify(told).length).toBeLessThan(1_000);
});
