import { Agent } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { RunWatcher } from '../runs/run.ts';
import { openDoor, openRuns } from './runs.ts';

const AGENT = { name: 'far', version: '1', config: Agent.parse({ name: 'far', model: 'm' }), soul: '' };

test('a run in a pod for which the gateway holds too much is stopped, as one that it performs itself', async () => {
  const stages = {
    config: { limits: { max_concurrent_runs: 1, max_queued_runs: 1, max_waiting_approvals: 1 } },
    agents: {
      registry: { get: () => AGENT, list: () => [AGENT] },
      known: { modelProblem: () => null },
      hasPod: () => true,
    },
    models: { route: () => null },
    pods: {
      whenReady: () => null,
      perform: async ({ signal }: { signal: AbortSignal }, _: unknown, onTalk: (chars: number) => void) => {
        onTalk(1e12);
        signal.throwIfAborted();
        throw new Error('it goes on');
      },
    },
    metrics: { runFinished: () => {} },
    log: { info: () => {} },
    access: { onBug: () => {} },
  };
  const runs = openRuns(stages as unknown as Parameters<typeof openRuns>[0]);
  const watcher = { approves: 'own' as const, event: () => {}, requestApproval: () => Promise.reject(new Error('no')) };
  const submitted = await runs.submit({ agent: 'far', input: 'go' }, watcher);
  const { json } = await (submitted.ok ? submitted.run.finished : expect.unreachable('the run was refused'));
  expect(JSON.parse(json)).toMatchObject({ data: { type: 'max_iterations' } });
});

test('each call of a tool is counted and logged; what a pod says of itself is counted', () => {
  const logged: object[] = [];
  const counted: object[] = [];
  const stages = {
    config: { limits: { tool_timeout_seconds: 1, tool_result_max_chars: 1 } },
    policy: {},
    tools: { servers: { call: () => {} } },
    metrics: { toolCall: (call: object) => counted.push(call) },
    log: { info: (fields: object) => logged.push(fields) },
  };
  const { onCall } = openDoor(stages as unknown as Parameters<typeof openDoor>[0]);
  const call = { server: 'k8s', tool: 'restart', agent: 'far', outcome: 'ok' as const, seconds: 1 };
  onCall({ ...call, run_id: 'run-1' });
  onCall({ ...call, run_id: null });
  expect(logged).toEqual([{ ...call, run_id: 'run-1' }]);
  expect(counted).toHaveLength(2);
});

test('while a question of a run is open, its other calls are made only in a slot', async () => {
  const { promise: done, resolve: finish } = Promise.withResolvers<{ kind: 'ok'; text: string }>();
  const { promise: said, resolve: approve } = Promise.withResolvers<void>();
  const called: string[] = [];
  const toolCall = (name: string) => ({ type: 'tool-call', toolCallId: name, toolName: `k8s__${name}`, input: '{}' });
  const replies = [['restart', 'get'].map(toolCall), [{ type: 'text', text: 'done' }]];
  const config = Agent.parse({ name: 'far', model: 'm', tools: ['k8s'], require_approval: ['k8s/restart'] });
  const served = { server: 'k8s', description: '', inputSchema: {}, annotations: {} };
  const stages = {
    config: { limits: { max_concurrent_runs: 1, max_queued_runs: 1, max_waiting_approvals: 1, max_iterations: 9 } },
    agents: {
      registry: { get: () => ({ ...AGENT, config }), list: () => [AGENT] },
      known: { modelProblem: () => null },
    },
    models: {
      route: () => null,
      generate: async () => ({
        ok: true,
        route: { provider: 'p', model: 'm' },
        reply: { content: replies.shift(), finish: 'stop', usage: {}, modelId: 'm-1' },
      }),
    },
    tools: {
      servers: { tools: () => ['restart', 'get'].map((name) => ({ ...served, name })), whenRunning: async () => [] },
    },
    pods: null,
    door: {
      decide: () => ({ action: 'allow', rule: 0, reason: null }),
      call: (_: string, tool: string) => {
        called.push(tool);
        return done;
      },
      onCall: () => {},
      toolTimeoutMs: 1,
      resultMaxChars: 100,
    },
    metrics: { runFinished: () => {} },
    log: { info: () => {} },
    access: { onBug: () => {} },
  };
  const runs = openRuns(stages as unknown as Parameters<typeof openRuns>[0]);
  const watcher: RunWatcher = {
    approves: 'own',
    event: () => {},
    requestApproval: (_, { input_sha256 }) => said.then(() => ({ approved: true, input_sha256 })),
  };
  const submitted = await runs.submit({ agent: 'far', input: 'go' }, watcher);
  if (!submitted.ok) throw new Error('the run was refused');
  await expect.poll(() => called).toEqual(['get']);
  await expect.poll(() => runs.waitingApprovals()).toBe(1);
  expect(runs.active()).toBe(1);
  finish({ kind: 'ok', text: 'done' });
  await expect.poll(() => runs.active()).toBe(0);
  approve();
  expect(JSON.parse((await submitted.run.finished).json)).toMatchObject({ text: 'done', tool_calls: 2 });
  expect(called).toEqual(['get', 'restart']);
});
