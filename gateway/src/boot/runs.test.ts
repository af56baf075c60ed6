import { Agent } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { openRuns } from './runs.ts';

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
