import type { AgentRunResult, RpcError } from '@signalbox/crds';
import { Agent, passingLimit } from '@signalbox/crds';
import { expect, onTestFinished, test } from 'vitest';
import { type Compute, createCompute } from '@signalbox/crds/process/compute';
import type { AgentRecord } from '../agents/agent-record.ts';
import { carryOn } from '../observability/span.ts';
import { createMethods } from '../rpc/methods.ts';
import { until } from '../testing/until.ts';
import type { RunWatcher } from './run.ts';
import { runAgent, type RunAgentDeps } from './run-agent.ts';
import { RunService, type RunServiceDeps } from './run-service.ts';

const AGENT: AgentRecord = {
  name: 'a',
  version: 'v',
  config: Agent.parse({ name: 'a', model: 'm', tools: ['host'] }),
  agentYaml: '',
  soul: '',
  managedBy: null,
};
const WATCHER: RunWatcher = {
  approves: 'own',
  event: () => {},
  requestApproval: () => Promise.reject(new Error('nobody there')),
};

const answering =
  (text: string): RunAgentDeps['generate'] =>
  () =>
    Promise.resolve({
      ok: true,
      route: { provider: 'p', model: 'm' },
      reply: {
        content: [{ type: 'text', text }],
        finish: 'stop',
        usage: { input: null, output: null, cachedInput: null },
        modelId: 'm',
      },
    });

const answerHi = answering('hi');

const untilAborted: RunAgentDeps['generate'] = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

function service({ generate = answerHi, ...overrides }: Partial<RunServiceDeps & Pick<RunAgentDeps, 'generate'>> = {}) {
  const bugs: unknown[] = [];
  let count = 0;
  const runs = new RunService({
    agent: (name) => (name === 'a' ? AGENT : undefined),
    agentNames: () => ['a'],
    modelProblem: () => null,
    route: () => null,
    tools: () => [{ server: 'host', name: 'ok', description: '', inputSchema: {}, annotations: {} }],
    whenRunning: () => Promise.resolve([]),
    perform: (job, run) =>
      runAgent(job, {
        generate,
        maxIterations: 3,
        door: {
          decide: () => ({ action: 'deny', rule: null, reason: null }),
          call: () => Promise.reject(new Error('no tools')),
          requestApproval: (request, signal) => run.requestApproval(request, signal),
          onCall: () => {},
          toolTimeoutMs: 1000,
          resultMaxChars: 1000,
        },
      }),
    compute: createCompute({ timeoutMs: 20_000 }),
    limits: { maxConcurrentRuns: 1, maxQueuedRuns: 1, maxWaitingApprovals: 1 },
    keyedRunsOutliveWatchers: true,
    newId: () => `run-${(count += 1)}`,
    now: () => 0,
    onFinished: () => {},
    onBug: (error) => bugs.push(error),
    ...overrides,
  });
  const outcome = async (key?: string) => {
    const submitted = await runs.submit({ agent: 'a', input: '', idempotency_key: key }, WATCHER);
    const finished = submitted.ok ? await submitted.run.finished : submitted;
    if (!('json' in finished)) return finished;
    if (finished.ok) return { ok: true, result: JSON.parse(finished.json) as AgentRunResult };
    const { message, data } = JSON.parse(finished.json) as RpcError;
    return { ok: false, message, ...data };
  };
  return { runs, outcome, bugs };
}

test('a tool server that does not come up fails the run as something to try again', async () => {
  const { outcome } = service({ whenRunning: () => Promise.resolve(['host']) });
  expect(await outcome()).toMatchObject({
    ok: false,
    type: 'tool_unavailable',
    retryable: true,
    message: expect.stringContaining('host'),
  });
});

test('tokens are unknown rather than none where no provider tells them', async () => {
  expect(await service().outcome()).toMatchObject({ ok: true, result: { usage: null } });
});

test('an exception is logged as a bug, answered as internal and gives its slot back', async () => {
  const boom = new Error('boom');
  const { outcome, bugs, runs } = service({ generate: () => Promise.reject(boom) });
  expect(await outcome()).toMatchObject({ ok: false, type: 'internal' });
  expect(bugs).toEqual([boom]);
  expect(runs.active()).toBe(0);
});

test('an exception in what hears of ended runs is logged as a bug, and the run stays known', async () => {
  const boom = new Error('boom');
  const onFinished = () => {
    throw boom;
  };
  const { outcome, bugs, runs } = service({ onFinished });
  await outcome('k');
  await until(() => bugs.length > 0);
  expect(bugs).toEqual([boom]);
  expect(runs.find({ idempotency_key: 'k' }, WATCHER)?.done).toBe(true);
});

test('a key means the same run while it goes on, and something new an hour after its end', async () => {
  let now = 0;
  const model = Promise.withResolvers<void>();
  const { outcome } = service({
    now: () => now,
    generate: async (...asked) => {
      await model.promise;
      return answerHi(...asked);
    },
  });
  const idOf = async () => {
    const answer = await outcome('k');
    return 'result' in answer ? answer.result?.run_id : null;
  };
  const first = idOf();
  now += 3_600_001;
  const again = idOf();
  model.resolve();
  expect([await first, await again]).toEqual(['run-1', 'run-1']);
  now += 3_600_000;
  expect(await idOf()).toBe('run-1');
  now += 1;
  expect(await idOf()).toBe('run-2');
});

test('a call with the key of a run waits for no check of its schema, and for one only where it has room', async () => {
  let now = 0;
  const unchecked = { ...createCompute({ timeoutMs: 20_000 }), checkSchema: () => new Promise<never>(() => {}) };
  const { runs } = service({ compute: unchecked, now: () => now });
  let hasRoom = true;
  const call = createMethods({
    version: '0',
    listAgents: () => [],
    takeRoom: () => (hasRoom ? () => {} : null),
    join: (params, watcher) => runs.join(params, watcher),
    submit: (params, watcher) => runs.submit(params, watcher),
    find: (reference, watcher) => runs.find(reference, watcher),
    cancel: () => true,
  });
  const ask = (params: object) =>
    call({ jsonrpc: '2.0', id: 1, method: 'agent.run', params: { agent: 'a', input: '', ...params } }, WATCHER, 1);
  expect(await ask({ idempotency_key: 'k' })).toHaveProperty('later');
  hasRoom = false;
  const heavy = { output_schema: { uniqueItems: true } };
  expect(await ask({ idempotency_key: 'k', ...heavy })).toMatchObject({ error: { data: { type: 'duplicate' } } });
  expect(await ask({ idempotency_key: 'k' })).toMatchObject({ held: null });
  const full = { error: { data: { type: 'at_capacity' } } };
  expect(await ask({ idempotency_key: 'other', ...heavy })).toMatchObject(full);
  await expect.poll(() => runs.active()).toBe(0);
  now += 3_600_001;
  expect(await ask({ idempotency_key: 'k', ...heavy })).toMatchObject(full);
});

const HEAVY = { type: 'object', $ref: '#/$defs/map', $defs: { map: { type: 'object' } } };

test('schemas of one caller, however many, keep no other caller of the agent from a check', async () => {
  const compute = createCompute({ timeoutMs: 20_000, threads: 1, maxWaiting: 8 });
  onTestFinished(() => compute.close());
  const many = { maxConcurrentRuns: 10, maxQueuedRuns: 10, maxWaitingApprovals: 1 };
  const { runs } = service({ compute, limits: many, generate: answering('{"a":1}') });
  const program: RunWatcher = { ...WATCHER, approves: 'none', caller: { token: 'invoke', address: '' } };
  const ask = async (description: string, watcher: RunWatcher) =>
    runs.submit({ agent: 'a', input: '', output_schema: { ...HEAVY, description } }, watcher);
  const theirs = ['1', '2', '3', '4', '5'].map((description) => ask(description, program));
  const own = await ask('own', WATCHER);
  expect(own.ok && (await own.run.finished)).toMatchObject({ ok: true });
  const refused = { ok: false, type: 'at_capacity', message: expect.stringContaining('too many evaluations wait') };
  expect((await Promise.all(theirs)).filter(({ ok }) => !ok)).toMatchObject([refused, refused]);
  expect(await ask('5', program)).toMatchObject({ ok: true });
});

test('a run whose answer finds no place to be checked may be asked for again', async () => {
  const shares: string[] = [];
  const validate: Compute['validate'] = (_, __, { share }) => {
    shares.push(share);
    return Promise.resolve(passingLimit('too many evaluations wait for a thread'));
  };
  const compute = { ...createCompute({ timeoutMs: 20_000 }), validate };
  const { runs } = service({ compute, generate: answering('{"a":1}') });
  const submitted = await runs.submit(
    { agent: 'a', input: '', output_schema: { type: 'object' }, metadata: { pipeline: 'p' } },
    WATCHER,
  );
  const { json } = submitted.ok ? await submitted.run.finished : expect.unreachable();
  expect(JSON.parse(json)).toMatchObject({ data: { type: 'internal', retryable: true } });
  expect(shares).toEqual(['pipeline p']);
});

test('a draining service takes nothing new and waits for what runs, at most as long as it is told', async () => {
  const { runs, outcome } = service({ generate: untilAborted });
  const running = outcome();
  const drained = runs.drain(20);
  expect(await outcome()).toMatchObject({ ok: false, type: 'at_capacity' });
  await drained;
  expect(await running).toMatchObject({ type: 'cancelled', message: 'the gateway is stopping', retryable: true });
});

test('runs are counted by agent: those with a slot, those that wait for one, and none that ended', async () => {
  const { runs } = service({ generate: untilAborted });
  const submit = async (input: string) => {
    const submitted = await runs.submit({ agent: 'a', input }, WATCHER);
    if (!submitted.ok) throw new Error(submitted.message);
    return submitted.run;
  };
  const first = await submit('first');
  await submit('second');
  await expect.poll(() => runs.byAgent().get('a')).toEqual({ active: 1, queued: 1 });
  runs.cancel(first, 'enough');
  await first.finished;
  await expect.poll(() => runs.byAgent().get('a')).toEqual({ active: 1, queued: 0 });
});

test('who waited for a pod and then for a slot hears the place', async () => {
  const events: unknown[] = [];
  let up = () => {};
  const ready = new Promise<boolean>((resolve) => {
    up = () => resolve(true);
  });
  let asked = 0;
  const { runs } = service({
    generate: () => new Promise(() => {}),
    whenReady: () => ((asked += 1) > 1 ? () => ready : null),
  });
  await runs.submit({ agent: 'a', input: 'first' }, WATCHER);
  await runs.submit({ agent: 'a', input: 'second' }, { ...WATCHER, event: (_, event) => events.push(event) });
  up();
  await expect.poll(() => events).toEqual([{ event: 'accepted' }, { event: 'queued', position: 1 }]);
});

test('what a caller says of its own run reaches log and trace in lengths that these can keep', async () => {
  const long = '"'.repeat(500_000);
  const metadata = { run_id: long, pipeline: 'sweep', step_name: long, team: long };
  const recorded: object[] = [];
  const { runs } = service({
    onFinished: (ended) => recorded.push(ended),
    startSpan: (name, attributes, context) => {
      recorded.push(attributes);
      return carryOn(name, attributes, context);
    },
  });
  await runs.submit({ agent: 'a', input: '', metadata }, WATCHER);
  await expect.poll(() => recorded).toHaveLength(2);
  const cut = `${long.slice(0, 300)}…`;
  expect(recorded).toMatchObject([
    { 'signalbox.run_id': cut, 'signalbox.pipeline': 'sweep', 'signalbox.step': cut },
    { caller_run: cut, pipeline: 'sweep', step: cut, team: cut },
  ]);
});
