import { expect, test } from 'vitest';
import type { AgentCall } from '../runs/state/executor.ts';
import { Stopped, TakenOver } from '../runs/state/stopped.ts';
import { agentBackend } from './agent-backend.ts';
import type { Call } from './rpc-client.ts';

/** Whether a call that is stopped for this reason is left to go on at the backend. */
async function goesOn(reason: unknown): Promise<boolean | undefined> {
  const stop = new AbortController();
  let made: Call | undefined;
  const backend = agentBackend('gateway', {
    call: (call) => {
      made = call;
      stop.abort(reason);
      return Promise.resolve({ ok: false, type: 'cancelled', message: 'stopped', retryable: false });
    },
    close: () => undefined,
  });
  const call = { agent: 'a', prompt: 'look', idempotencyKey: 'k', signal: stop.signal, onEvent: () => undefined };
  await backend.run(call as unknown as AgentCall);
  return made?.outlives?.();
}

test('a shutdown leaves the agent at work for the process that continues the run, which asks with the same key', async () => {
  expect(await goesOn(new Stopped('shutdown', 'the service stops'))).toBe(true);
  expect(await goesOn(new TakenOver())).toBe(true);
});

test.each(['cancelled', 'run_timeout', 'step_timeout', 'call_timeout'] as const)('%s ends it', async (why) => {
  expect(await goesOn(new Stopped(why, 'enough'))).toBe(false);
});
