import { Agent } from '@signalbox/crds';
import { expect, test } from 'vitest';
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
