import { expect, test } from 'vitest';
import { Run } from '../runs/run.ts';
import type { RunJob } from '../runs/run-agent.ts';
import type { AgentPods } from './agent-pods.ts';
import type { PodLink } from './pod-link.ts';
import { type PodRunDeps, runInPod } from './pod-run.ts';

const watcher = { approves: 'own' as const, event: () => {}, requestApproval: () => Promise.reject(new Error('none')) };

/** How a run ends whose pod answers with this. */
function outcomeOf(response: object) {
  const run = new Run('run-1', { agent: 'far', input: '' }, watcher);
  const job = { runId: 'run-1', agent: { name: 'far', version: '1' }, signal: run.signal(), contract: null, span: {} };
  const link = { load: 0, request: () => Promise.resolve(response) } as unknown as PodLink;
  const pods = { whenReady: () => null, pick: () => link } as unknown as AgentPods;
  const deps: PodRunDeps = { pods, configured: (_, __, { ask }) => ask(), hasBegun: () => true, reconnectMs: 1 };
  return runInPod(job as unknown as RunJob, run, deps);
}

const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`own-${at}`, at]));
const called = { type: 'tool_call', started_at: '2026-01-01T00:00:00Z', duration_ms: 1, server: 'beside', tool: 'get' };
const answer = { run_id: 'r', status: 'completed', text: 'done', duration_ms: 1, tool_calls: 1, trace: [called] };

test('what a pod says beside the answer is not kept', async () => {
  const [plain, filled] = [
    await outcomeOf({ result: answer }),
    await outcomeOf({ result: { ...answer, ...fields(3) } }),
  ];
  expect(plain).toMatchObject({
    ok: true,
    result: { run_id: 'run-1', text: 'done', agent_version: '1', trace: [called] },
  });
  expect(filled).toEqual(plain);
});

test('nor what it says beside a failure', async () => {
  const data = { type: 'provider_error', retryable: true, tool_calls: 1, trace: [called] };
  const failed = (more: object) => outcomeOf({ error: { code: 1, message: 'lost', data: { ...data, ...more } } });
  const plain = await failed({});
  expect(plain).toMatchObject({ ok: false, type: 'provider_error', partial: { tool_calls: 1, trace: [called] } });
  expect(await failed(fields(3))).toEqual(plain);
});

test.each([
  ['text', { text: 'x'.repeat(1_100_000) }],
  ['values', { output: fields(60_000) }],
  ['text as its reason', { stop_reason: 'x'.repeat(1_100_000) }],
])('an answer with more %s than a message holds is none, and what was done is said', async (_, more) => {
  const outcome = await outcomeOf({ result: { ...answer, ...more } });
  expect(outcome).toMatchObject({ ok: false, type: 'output_invalid', partial: { tool_calls: 1, trace: [called] } });
  expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
});

test('a trace that no honest pod sends takes no answer away', async () => {
  const outcome = await outcomeOf({ result: { ...answer, trace: [{ ...called, ...fields(60_000) }] } });
  expect(outcome).toMatchObject({ ok: true, result: { text: 'done', trace: [], trace_cut: true } });
});
