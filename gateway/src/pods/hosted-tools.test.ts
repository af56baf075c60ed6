import { AgentRunResult, AgentRunSpent, type TraceEntry } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { RunQueue } from '../runs/run-queue.ts';
import { RunSlot } from '../runs/run-slot.ts';
import type { RunEvent } from '../runs/run-event.ts';
import type { RunOutcome } from '../runs/run-outcome.ts';
import { outcomeOf, untilAborted, withRun, type World } from '../testing/hosted-run.ts';

let asks = 0;
const call = (tool: string, input = '{}', server = 'k8s') => ({ ask: (asks += 1), call_id: 'c1', server, tool, input });
const question = (tool: string) => ({ run_id: 'run-1', agent: 'far', call_id: 'c1', server: 'k8s', tool, input: {} });
const at = '2026-01-01T00:00:00.000Z';

type Options = Parameters<typeof outcomeOf>[1];
interface Recorded {
  told: RunEvent[];
  trace: TraceEntry[];
  cut: boolean;
}

/** What a run leaves behind in which a pod did this. */
async function recordOf(work: (world: World) => Promise<unknown>, options?: Options): Promise<Recorded> {
  const told: RunEvent[] = [];
  const outcome = await outcomeOf(work, { ...options, emit: (event) => void told.push(event) });
  const { trace, trace_cut: cut = false } = outcome.ok ? outcome.result : outcome.partial;
  return { told, trace, cut };
}

const names = (events: readonly RunEvent[]) => events.map(({ event }) => event);
const types = (trace: readonly TraceEntry[]) => trace.map(({ type }) => type);

test('a call of a pod to a server of the gateway is told and in the trace, whatever the pod says', async () => {
  const { told, trace } = await recordOf(({ ask }) => ask('tool.call', call('get', '{"a":1}')));
  const fields = { call_id: 'c1', server: 'k8s', tool: 'get' };
  expect(told).toMatchObject([
    { event: 'tool_call', ...fields, input: { a: 1 } },
    { event: 'tool_result', ...fields, is_error: false, result: 'call 1' },
  ]);
  expect(trace).toMatchObject([{ type: 'tool_call', ...fields, input: { a: 1 }, result: 'call 1', is_error: false }]);
});

test.each([
  ['that the policy denies', 'tool.call', call('delete'), 'no deletes'],
  ['that the policy would deny', 'tool.authorize', call('delete'), 'no deletes'],
  ['that nobody approved', 'tool.call', call('exec'), 'it changes things'],
  ['without an object of arguments', 'tool.call', call('get', '[1]'), 'the arguments must be a JSON object'],
  [
    'whose question is too large to be shown',
    'tool.request_approval',
    { ...question('exec'), input: 'x'.repeat(1_100_000) },
    'the call is too large',
  ],
])('so is a refusal of one %s', async (_, method, asked, reason) => {
  const { told, trace } = await recordOf(({ ask }) => ask(method, asked));
  const { server, tool } = asked;
  expect(told).toMatchObject([{ event: 'tool_denied', server, tool, reason: expect.stringContaining(reason) }]);
  expect(trace).toMatchObject([{ type: 'tool_denied', server, tool, reason: expect.stringContaining(reason) }]);
});

test.each([
  ['one that is not offered', call('format'), '?', 'k8s/format'],
  ['one of a server that the agent does not list', call('read', '{}', 'secrets'), '?', 'secrets/read'],
])('and a call of a tool without a server: %s', async (_, asked, server, tool) => {
  const { told, trace } = await recordOf(({ ask }) => ask('tool.call', asked));
  expect(told).toMatchObject([{ event: 'tool_denied', server, tool }]);
  expect(trace).toMatchObject([{ type: 'tool_denied', server, tool }]);
});

test.each([
  [true, ['approval_requested', 'approval_decided', 'tool_call', 'tool_result'], ['approval', 'tool_call']],
  [false, ['approval_requested', 'approval_decided', 'tool_denied'], ['approval', 'tool_denied']],
])('what people were asked and said is told as it was: %s', async (approved, events, entries) => {
  const { told, trace } = await recordOf(
    async ({ ask }) => {
      const { approved: isAllowed } = (await ask('tool.request_approval', question('exec'))) as { approved: boolean };
      if (isAllowed) await ask('tool.call', call('exec'));
    },
    { approved },
  );
  expect(names(told)).toEqual(events);
  expect(types(trace)).toEqual(entries);
  expect(told[1]).toMatchObject({ approved, server: 'k8s', tool: 'exec', call_id: 'c1' });
});

const event = <More extends object>(more: More) => ({
  run_id: 'run-1',
  ts: at,
  call_id: 'c1',
  tool: 'get',
  server: 'k8s',
  ...more,
});

test.each([
  event({ event: 'tool_call', input: { ns: 'prod' } }),
  event({ event: 'tool_result', is_error: false, result: 'all pods healthy', duration_ms: 3 }),
  event({ event: 'tool_denied', reason: 'no' }),
  event({ event: 'approval_requested' }),
  event({ event: 'approval_decided', approved: true, decided_by: 'ann' }),
])('a pod does not tell of calls that the gateway knows: $event', async (said) => {
  const { told } = await recordOf(async ({ ask }) => {
    await ask('agent.event', said);
    const servers = ['invented', 'elsewhere', ...(said.event === 'tool_denied' ? [] : ['?'])];
    for (const server of servers) await ask('agent.event', { ...said, server });
  });
  expect(told).toEqual([]);
  const own = await recordOf(({ ask }) => ask('agent.event', { ...said, server: 'beside' }));
  expect(own.told).toHaveLength(1);
});

test.each([
  { event: 'started' },
  { event: 'model_fallback', from: 'a', to: 'b', reason: 'no' },
  { event: 'text', text: 'approved by ann' },
])('nor of what the gateway does itself, by whatever server: $event', async (said) => {
  const { told } = await recordOf(async ({ ask }) => {
    for (const server of [undefined, '?', 'beside']) await ask('agent.event', event({ ...said, server }));
  });
  expect(told).toEqual([]);
});

const entry = (type: string, more: object = {}) => ({ type, started_at: at, duration_ms: 1, ...more }) as TraceEntry;
const OWN = [
  entry('llm_call', { model: 'm' }),
  entry('tool_call', { server: 'beside', tool: 'echo', result: 'hi' }),
  entry('tool_denied', { server: '?', tool: 'drop' }),
];
const FORGED = [
  entry('tool_call', { server: 'k8s', tool: 'get', result: 'all pods healthy' }),
  entry('tool_call', { server: ['k8s'], tool: 'get', result: 'all pods healthy' }),
  entry('tool_call', { server: 'invented', tool: 'get', result: 'all pods healthy' }),
  entry('tool_call', { server: 'elsewhere', tool: 'get', result: 'all pods healthy' }),
  entry('tool_call', { tool: 'get', result: 'all pods healthy' }),
  entry('approval', { server: 'k8s', tool: 'exec', is_error: false }),
  entry('tool_call', { server: '?', tool: 'prometheus/query', result: 'all pods healthy' }),
  entry('tool_call ', { tool: 'k8s/get', result: 'all pods healthy' }),
  entry('tool_call', { server: 'beside', tool: { toString: 1 }, result: 'all pods healthy' }),
  { ...entry(''), type: { toString: 1 }, result: 'all pods healthy' } as unknown as TraceEntry,
];
const said = { trace: [...FORGED, ...OWN], tool_calls: 9 };
const answer = AgentRunResult.parse({ run_id: 'run-1', status: 'completed', text: 'done', duration_ms: 1, ...said });
const failed: RunOutcome = {
  ok: false,
  type: 'timeout',
  message: '',
  retryable: true,
  partial: AgentRunSpent.parse(said),
};

test.each<[string, RunOutcome]>([
  ['answered', { ok: true, result: answer }],
  ['failed', failed],
])(
  'the trace of a run that %s has of the pod what the gateway cannot know, and of the gateway the rest',
  async (_, ends) => {
    const { trace } = await recordOf(({ ask }) => ask('tool.call', call('get')), { ends });
    expect(trace).toMatchObject([...OWN, { type: 'tool_call', server: 'k8s', tool: 'get', result: 'call 1' }]);
    expect(JSON.stringify(trace)).not.toContain('healthy');
  },
);

test('what a pod invents takes no call of the gateway out of the trace', async () => {
  const flood = Array.from({ length: 3_000 }, (_, nth) =>
    entry('tool_call', { server: 'beside', tool: `t${nth}`, input: Array(60).fill(nth), result: 'x'.repeat(4_000) }),
  );
  const ends: RunOutcome = { ok: true, result: { ...answer, trace: flood } };
  const { trace, cut } = await recordOf(({ ask }) => ask('tool.call', call('get')), { ends });
  expect(trace.at(-1)).toMatchObject({ server: 'k8s', tool: 'get', result: 'call 1' });
  expect(cut).toBe(true);
  expect(JSON.stringify(trace).length).toBeLessThan(900_000);
});

test('fields of its own in what a pod says of a call are not kept', async () => {
  const said = entry('tool_call', { server: 'beside', tool: 'look' });
  const ends: RunOutcome = { ok: true, result: { ...answer, trace: [{ ...said, 'own-1': 1 }] } };
  const { trace } = await recordOf(() => Promise.resolve(), { ends });
  expect(trace).toEqual([said]);
});

test('a pod that asks for what is denied without end gets few lines for it', async () => {
  const { told, trace, cut } = await recordOf(
    async ({ ask, counted }) => {
      for (let nth = 0; nth < 60; nth++) await ask('tool.authorize', call('delete'));
      expect(counted).toHaveLength(32);
    },
    { maxIterations: 1 },
  );
  expect([told.length, trace.length, cut]).toEqual([32, 60, false]);
});

test.each([
  ['denied', 'tool.authorize', () => call('delete')],
  ['allowed', 'tool.authorize', () => call('get')],
  ['asked of people, who get no question', 'tool.request_approval', () => question('delete')],
])('a run is over whose pod asks about twice as many calls as it may make: %s', (_, method, asked) =>
  withRun(
    async ({ ask }) => {
      for (let nth = 0; nth < 64; nth++) expect(await ask(method, asked())).toBeTypeOf('object');
      expect(await ask(method, asked())).toBe('cancelled');
      expect(await ask('tool.call', call('get'))).toBe('cancelled');
    },
    { maxIterations: 1 },
  ),
);

function oneSlot() {
  const queue = new RunQueue({ maxConcurrentRuns: 1, maxQueuedRuns: 9, maxWaitingApprovals: 9 });
  const slotOf: NonNullable<Options>['slotOf'] = (run) => {
    const ticket = queue.enter(run.share, run.signal(), () => {});
    if (!ticket) throw new Error('the queue is full');
    return new RunSlot(queue, ticket, { share: run.share, signal: run.signal() });
  };
  const takeByOther = () => queue.enter({ key: 'another', isBounded: false }, new AbortController().signal, () => {});
  return { queue, slotOf, takeByOther };
}

const generate = () => ({ ask: (asks += 1), call: { prompt: [], tools: [] } });

test('while a question of a run is open, its pod asks models and tools only in a slot', async () => {
  const { queue, slotOf, takeByOther } = oneSlot();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  await withRun(
    async ({ ask, calls, reached, asked }) => {
      const open = ask('tool.request_approval', question('exec'));
      await expect.poll(() => asked).toHaveLength(1);
      const other = takeByOther();
      const turn = ask('model.generate', generate());
      const get = ask('tool.call', call('get'));
      await expect.poll(() => queue.queued()).toBe(1);
      expect([other?.position, calls, reached]).toEqual([0, [], []]);
      other?.release();
      expect([await turn, await get]).toMatchObject([{ ok: true }, { kind: 'ok' }]);
      expect(queue.active()).toBe(0);
      resolve(true);
      expect(await open).toMatchObject({ approved: true });
      expect(queue.active()).toBe(1);
    },
    { approved: promise, slotOf },
  );
});

test('what a pod has open when it ends the run is aborted, and its calls are in the trace', async () => {
  const replies: Promise<unknown>[] = [];
  const { told, trace } = await recordOf(async (world) => {
    world.tool = (signal) => untilAborted(signal).catch(() => ({ kind: 'error', text: 'given up' }));
    world.model = untilAborted;
    replies.push(world.ask('tool.call', call('get')), world.ask('model.generate', generate()));
    await expect.poll(() => [world.reached.length, world.calls.length]).toEqual([1, 1]);
  });
  expect(names(told)).toEqual(['tool_call']);
  expect(trace).toMatchObject([{ type: 'tool_call', server: 'k8s', tool: 'get', result: 'given up', is_error: true }]);
  expect(await Promise.all(replies)).toEqual(['cancelled', 'cancelled']);
});

test('a call that waits for a slot when its pod ends the run is not made, and a question is given up', async () => {
  const { queue, slotOf, takeByOther } = oneSlot();
  const { promise: approved } = Promise.withResolvers<boolean>();
  const replies: Promise<unknown>[] = [];
  let reached: string[] = [];
  let other: ReturnType<typeof takeByOther> = null;
  const work = async (world: World) => {
    ({ reached } = world);
    replies.push(world.ask('tool.request_approval', question('exec')));
    await expect.poll(() => world.asked).toHaveLength(1);
    other = takeByOther();
    replies.push(world.ask('tool.call', call('get')));
    await expect.poll(() => queue.queued()).toBe(1);
  };
  const { told, trace } = await recordOf(work, { approved, slotOf });
  expect([queue.queued(), queue.waitingApprovals()]).toEqual([0, 0]);
  (other as ReturnType<typeof takeByOther>)?.release();
  expect(await Promise.all(replies)).toEqual(['cancelled', 'cancelled']);
  expect([queue.active(), reached, names(told), trace]).toEqual([0, [], ['approval_requested'], []]);
});

test('a call whose decision comes after the end of the run is not made', async () => {
  const decided = Promise.withResolvers<void>();
  const replies: Promise<unknown>[] = [];
  let reached: string[] = [];
  const { told } = await recordOf((world) => {
    ({ reached } = world);
    world.policy = () => decided.promise;
    replies.push(world.ask('tool.call', call('get')));
    setImmediate(decided.resolve);
    return Promise.resolve();
  });
  expect([await Promise.all(replies), reached, told]).toEqual([['cancelled'], [], []]);
});
