import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { AgentCall } from '../runs/state/executor.ts';
import { Stopped, TakenOver } from '../runs/state/stopped.ts';
import { agentBackend, MAX_ASKERS } from './agent-backend.ts';
import { MAX_MODELS } from './bounded-models.ts';
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

test('an agent has so many models; what its backend names beyond counts as another, and only there', async () => {
  let named = { provider: 'p', model: 'first' };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const backend = agentBackend('external', {
    call: () => {
      const by = [{ ...named, model: `${named.model} too`, ...usage }];
      const result = {
        run_id: 'g',
        status: 'completed',
        text: 'x',
        duration_ms: 1,
        usage,
        usage_by_model: by,
        ...named,
      };
      return Promise.resolve({ ok: true, result });
    },
    close: () => undefined,
  });
  const signal = new AbortController().signal;
  const ask = async (agent: string, said: typeof named) => {
    named = said;
    const call = { agent, prompt: 'look', idempotencyKey: 'k', signal, onEvent: () => undefined };
    const reply = await backend.run(call as unknown as AgentCall);
    const by = reply.ok ? reply.usageByModel?.map(({ provider, model }) => [provider, model]) : [];
    return reply.ok && [[reply.provider, reply.model], ...(by ?? [])];
  };
  const pair = (provider: string, model: string) => [
    [provider, model],
    [provider, `${model} too`],
  ];
  expect(await ask('a', named)).toEqual(pair('p', 'first'));
  for (let at = 0; at < MAX_MODELS; at++) await ask('a', { provider: `p${at}`, model: `m${at}` });
  expect(await ask('a', { provider: 'new', model: 'new' })).toEqual([
    ['other', 'other'],
    ['other', 'other'],
  ]);
  expect(await ask('a', { provider: 'p', model: 'first' })).toEqual(pair('p', 'first'));
  expect(await ask('b', { provider: 'new', model: 'new' })).toEqual(pair('new', 'new'));
});

test.each([
  ['an answer', true, true],
  ['a failure', false, true],
  ['an answer with the whole trace', true, undefined],
])('a trace that the backend says it cut is known as one: of %s', async (_, ok, trace_cut) => {
  const said = { run_id: 'g', status: 'completed', text: 'x', duration_ms: 1, iterations: 1, trace_cut };
  const failed = { ok: false as const, type: 'output_invalid' as const, message: 'no', retryable: false, data: said };
  const backend = agentBackend('gateway', {
    call: () => Promise.resolve(ok ? { ok, result: said } : failed),
    close: () => undefined,
  });
  const { signal } = new AbortController();
  const call = { agent: 'a', prompt: 'look', idempotencyKey: 'k', signal, onEvent: () => undefined };
  const reply = await backend.run(call as unknown as AgentCall);
  expect((reply.ok ? reply : reply.spent)?.traceCut).toBe(trace_cut);
});

test('a question with a long name is denied, and so is that of one run too many', async () => {
  const names = { run_id: 'g', call_id: 'c', agent: 'a', server: 's', tool: 't' };
  const said: unknown[] = [];
  const backend = agentBackend('external', {
    call: async ({ onRequest }) => {
      const ask = (changed: object) =>
        onRequest?.('tool.request_approval', {
          ...names,
          ...changed,
          input: {},
          metadata: { run_id: 'r', step_name: 'fix' },
        });
      for (const name of Object.keys(names)) said.push(await ask({ [name]: 'x'.repeat(301) }));
      for (let at = 0; at <= MAX_ASKERS; at++) said.push(await ask({ run_id: `g${at}` }));
      said.push(await ask({ run_id: 'g0' }));
      return { ok: false, type: 'over', message: 'over', retryable: false };
    },
    close: () => undefined,
  });
  const onApproval = () => Promise.resolve({ approved: true, inputSha256: '', decidedBy: 'ada', comment: null });
  const about = { agent: 'a', runId: 'r', stepName: 'fix', idempotencyKey: 'k', onEvent: () => undefined, onApproval };
  await backend.run({ ...about, signal: new AbortController().signal } as unknown as AgentCall);
  const asked = Array(MAX_ASKERS).fill(true);
  expect(said.map((one) => (one as { approved: boolean }).approved)).toEqual([
    ...Array(5).fill(false),
    ...asked,
    false,
    true,
  ]);
  expect(said[3]).toEqual({ approved: false, comment: 'the server of the question is longer than 64 characters' });
});

function memoryUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('of a long name of a model only its start stays in memory', async () => {
  const said = (at: number): unknown =>
    JSON.parse(
      `{"run_id":"g","status":"completed","text":"","duration_ms":1,"provider":"p","model":"${at}${'x'.repeat(900_000)}"}`,
    );
  let at = 0;
  const backend = agentBackend('external', {
    call: () => Promise.resolve({ ok: true, result: said(at++) }),
    close: () => undefined,
  });
  const call = { agent: 'a', idempotencyKey: 'k', signal: new AbortController().signal, onEvent: () => undefined };
  const before = memoryUsed();
  const models: unknown[] = [];
  for (let asked = 0; asked < 40; asked++) {
    const reply = await backend.run(call as unknown as AgentCall);
    models.push(reply.ok && reply.model);
  }
  expect(memoryUsed() - before).toBeLessThan(15_000_000);
  expect(models[7]).toBe(`7${'x'.repeat(199)}`);
});
