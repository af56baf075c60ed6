import type { RpcRequest } from '@signalbox/crds';
import { Agent } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { createCompute } from '@signalbox/crds/process/compute';
import { carryOn } from '../observability/span.ts';
import { compilePolicy, type PolicyDefinition } from '../policy/policy.ts';
import { Run } from '../runs/run.ts';
import type { RunJob } from '../runs/run-agent.ts';
import { offerTools } from '../runs/tool-offer.ts';
import { AnswerPods } from './answer-pods.ts';

const { matches } = createCompute({ timeoutMs: 20_000 });

const RULES: PolicyDefinition['rules'] = [
  { deny: { tool: 'delete*' }, reason: 'no deletes' },
  { deny: { input_regex: 'kube-system' }, reason: 'not there' },
  { require_approval: { tool: 'exec' } },
];
const SERVED = ['get', 'delete', 'exec'].map((name) => ({
  server: 'k8s',
  name,
  description: '',
  inputSchema: {},
  annotations: {},
}));

interface World {
  /** What a pod of that agent is answered: a result, or the type of an error. */
  ask: (method: string, params: object, agent?: string) => Promise<unknown>;
  /** The calls that reached a tool server. */
  reached: string[];
  counted: { server: string; outcome: string }[];
  asked: () => number;
}

/** A gateway's side of one run of agent `far` that lists `k8s`, while a pod says whatever it wants. */
async function withRun(work: (world: World) => Promise<void>, approved = true): Promise<void> {
  const policy = compilePolicy({ default: 'allow', rules: RULES }, matches);
  if (!policy.ok) throw new Error(policy.message);
  const reached: string[] = [];
  const counted: World['counted'] = [];
  let askedPeople = 0;
  const pods = new AnswerPods({
    generate: () => Promise.reject(new Error('not asked here')),
    livesHere: (server) => server === 'k8s',
    door: {
      decide: policy.decide,
      call: (server, tool, input) => {
        reached.push(`${server}/${tool} ${JSON.stringify(input)}`);
        return Promise.resolve({ kind: 'ok', text: `call ${reached.length}` });
      },
      onCall: ({ server, outcome }) => counted.push({ server, outcome }),
      toolTimeoutMs: 1000,
      resultMaxChars: 1000,
    },
  });
  const config = Agent.parse({ name: 'far', model: 'm', tools: ['k8s', 'beside'] });
  const run = new Run(
    'run-1',
    { agent: 'far', input: '' },
    {
      approves: 'own',
      event: () => {},
      requestApproval: (_, { input_sha256 }) => {
        askedPeople += 1;
        return Promise.resolve({ approved, input_sha256 });
      },
    },
  );
  const job: RunJob = {
    runId: 'run-1',
    agent: { name: 'far', version: '1', config, agentYaml: '', soul: '', managedBy: null },
    input: '',
    models: ['m'],
    contract: null,
    offer: offerTools(config, SERVED),
    streamText: false,
    traceResultMaxChars: 100,
    signal: run.signal(),
    emit: () => {},
    span: carryOn('', {}, undefined),
  };
  const ask: World['ask'] = async (method, params, agent = 'far') => {
    const request: RpcRequest = { jsonrpc: '2.0', id: 1, method, params: { run: 'run-1', ...params } };
    const reply = await pods.answer(agent, request);
    if ('json' in reply) return JSON.parse(reply.json);
    return reply.ok ? reply.result : reply.error.data?.type;
  };
  await pods.during(job, run, () => work({ ask, reached, counted, asked: () => askedPeople }));
}

let asks = 0;
const call = (tool: string, input = '{}', server = 'k8s') => ({
  ask: (asks += 1),
  call_id: 'c1',
  server,
  tool,
  input,
});

test('what is allowed is called', () =>
  withRun(async ({ ask, reached, counted }) => {
    expect(await ask('tool.authorize', call('get'))).toMatchObject({ action: 'allow' });
    expect(await ask('tool.call', call('get', '{"a":1}'))).toEqual({ kind: 'ok', text: 'call 1' });
    expect(reached).toEqual(['k8s/get {"a":1}']);
    expect(counted).toEqual([{ server: 'k8s', outcome: 'ok' }]);
  }));

test('a pod of another agent learns nothing of the run and can do nothing in it', () =>
  withRun(async ({ ask, reached }) => {
    for (const method of ['tool.authorize', 'tool.call', 'model.generate', 'tool.request_approval', 'agent.event'])
      expect(await ask(method, call('get'), 'near')).toBe('not_found');
    expect(reached).toEqual([]);
  }));

test('once the run is over nothing of it is answered', async () => {
  let late: World['ask'] | null = null;
  await withRun(async ({ ask }) => {
    late = ask;
    await ask('tool.call', call('get'));
  });
  expect(await (late as World['ask'] | null)?.('tool.call', call('get'))).toBe('not_found');
});

test.each([
  ['one that the policy denies', call('delete')],
  ['one that the policy denies for its input', call('get', '{"namespace":"kube-system"}')],
  ['one whose input is written so that the policy would not know it', call('get', '{"namespace":"kube\\u002dsystem"}')],
  ['one that a person must allow and nobody did', call('exec')],
  ['one that its server does not have', call('format')],
  ['one of a server that the agent does not list', call('get', '{}', 'secrets')],
  ['one without an object of arguments', call('get', '[1]')],
  ['one whose arguments are no JSON', call('get', '{')],
])('a call that nobody asked the policy about before is not made: %s', (_, asked) =>
  withRun(async ({ ask, reached }) => {
    expect(await ask('tool.call', asked)).toMatchObject({ kind: 'error' });
    expect(reached).toEqual([]);
  }),
);

test.each([
  ['a denied tool', call('delete')],
  ['a denied input', call('get', '{"namespace":"kube\\u002dsystem"}')],
  ['a server that the agent does not list', call('get', '{}', 'secrets')],
  ['arguments that are no object', call('get', '"x"')],
])('the policy says no of %s', (_, asked) =>
  withRun(async ({ ask }) => {
    expect(await ask('tool.authorize', asked)).toMatchObject({ action: 'deny' });
  }),
);

const approval = (tool: string, input: object = {}) => ({
  run_id: 'run-1',
  agent: 'far',
  call_id: 'c1',
  server: 'k8s',
  tool,
  input,
});

test('an approval is good for the very call that was shown, and once', () =>
  withRun(async ({ ask, reached, asked }) => {
    expect(await ask('tool.request_approval', approval('exec', { a: 1 }))).toMatchObject({ approved: true });
    expect(await ask('tool.call', call('exec', '{"a":2}'))).toMatchObject({ kind: 'error' });
    expect(await ask('tool.call', { ...call('exec', '{"a":1}'), call_id: 'c2' })).toMatchObject({ kind: 'error' });
    expect(await ask('tool.call', call('exec', '{ "a": 1 }'))).toMatchObject({ kind: 'ok' });
    expect(await ask('tool.call', call('exec', '{"a":1}'))).toMatchObject({ kind: 'error' });
    expect(reached).toEqual(['k8s/exec {"a":1}']);
    await ask('tool.request_approval', approval('exec', { a: 1 }));
    expect(asked()).toBe(2);
  }));

test('an approval that is asked for again before the call is the same one', () =>
  withRun(async ({ ask, asked }) => {
    await ask('tool.request_approval', approval('exec'));
    await ask('tool.request_approval', approval('exec'));
    expect(asked()).toBe(1);
  }));

test('no approval lifts a denial, and a no is no approval', async () => {
  await withRun(async ({ ask, reached }) => {
    await ask('tool.request_approval', approval('delete'));
    expect(await ask('tool.call', call('delete'))).toMatchObject({ kind: 'error' });
    expect(reached).toEqual([]);
  });
  await withRun(async ({ ask, reached }) => {
    await ask('tool.request_approval', approval('exec'));
    expect(await ask('tool.call', call('exec'))).toMatchObject({ kind: 'error' });
    expect(reached).toEqual([]);
  }, false);
});

test('a question that is asked again is answered again and done once', () =>
  withRun(async ({ ask, reached }) => {
    const question = call('get');
    expect(await ask('tool.call', question)).toEqual({ kind: 'ok', text: 'call 1' });
    expect(await ask('tool.call', question)).toEqual({ kind: 'ok', text: 'call 1' });
    expect(reached).toHaveLength(1);
  }));

test('calls in the pod are counted as its events say, of the servers that the agent lists', () =>
  withRun(async ({ ask, counted }) => {
    const event = { run_id: 'run-1', ts: '2026-01-01T00:00:00Z', call_id: 'c1', tool: 'echo' };
    const result = { ...event, event: 'tool_result', is_error: false, result: '', duration_ms: 1 };
    for (const server of ['beside', 'k8s', 'invented']) await ask('agent.event', { ...result, server });
    const denied = { ...event, event: 'tool_denied', reason: 'no' };
    for (const server of ['beside', 'invented']) await ask('agent.event', { ...denied, server });
    expect(counted).toEqual([
      { server: 'beside', outcome: 'ok' },
      { server: 'beside', outcome: 'denied' },
    ]);
  }));
