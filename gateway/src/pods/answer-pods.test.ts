import { expect, test } from 'vitest';
import type { ToolOutcome } from '../tools/tool.ts';
import { collectGarbage } from '../testing/collect-garbage.ts';
import { withRun, type World } from '../testing/hosted-run.ts';

let asks = 0;
const call = (tool: string, input = '{}', server = 'k8s') => ({
  ask: (asks += 1),
  call_id: 'c1',
  server,
  tool,
  input,
});

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('what is allowed is called', () =>
  withRun(async ({ ask, reached, counted }) => {
    expect(await ask('tool.authorize', call('get'))).toMatchObject({ action: 'allow' });
    expect(await ask('tool.call', call('get', '{"a":1}'))).toEqual({ kind: 'ok', text: 'call 1' });
    expect(reached).toEqual(['k8s/get {"a":1}']);
    expect(counted).toEqual([{ run_id: 'run-1', server: 'k8s', outcome: 'ok' }]);
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
    expect(asked).toHaveLength(2);
  }));

test('a long text of a tool is cut before it is kept and sent', () =>
  withRun(async (world) => {
    world.tool = () => Promise.resolve({ kind: 'ok', text: 'x'.repeat(5_000) });
    const text = `${'x'.repeat(1_000)}\n[cut: 4000 more characters]`;
    expect(await world.ask('tool.call', call('get'))).toEqual({ kind: 'ok', text });
  }));

test('a run has eight calls of tools open at once', () =>
  withRun(async (world) => {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    world.tool = () => promise;
    const open = Array.from({ length: 8 }, () => world.ask('tool.call', call('get')));
    expect(await world.ask('tool.call', call('get'))).toEqual({ kind: 'error', text: 'at most 8 tool calls at once' });
    resolve({ kind: 'ok', text: 'done' });
    expect(await Promise.all(open)).toHaveLength(8);
    expect(await world.ask('tool.call', call('get'))).toEqual({ kind: 'ok', text: 'done' });
  }));

test('a run asks people 64 questions without their calls, and no more', () =>
  withRun(async ({ ask, asked }) => {
    for (let nth = 0; nth < 64; nth += 1) await ask('tool.request_approval', approval('exec', { nth }));
    expect(await ask('tool.request_approval', approval('exec', { nth: 64 }))).toMatchObject({ approved: false });
    expect(await ask('tool.request_approval', approval('exec', { nth: 63 }))).toMatchObject({ approved: true });
    await ask('tool.call', call('exec', '{"nth":3}'));
    expect(await ask('tool.request_approval', approval('exec', { nth: 64 }))).toMatchObject({ approved: true });
    expect(asked).toHaveLength(65);
  }));

test('a question that was answered with no keeps its place when its call is refused', () =>
  withRun(
    async ({ ask, asked }) => {
      for (let nth = 0; nth < 64; nth += 1) await ask('tool.request_approval', approval('exec', { nth }));
      expect(await ask('tool.call', call('exec', '{"nth":3}'))).toMatchObject({ kind: 'error' });
      const comment = 'a run asks people 64 questions at most';
      expect(await ask('tool.request_approval', approval('exec', { nth: 64 }))).toEqual({ approved: false, comment });
      expect(asked).toHaveLength(64);
    },
    { approved: false },
  ));

test('what the policy answers takes no place of a question', () =>
  withRun(async ({ ask }) => {
    for (let nth = 0; nth < 64; nth += 1) await ask('tool.request_approval', approval('delete', { nth }));
    expect(await ask('tool.request_approval', approval('exec'))).toMatchObject({ approved: true });
  }));

test.each([
  ['an input', { input: { text: 'x'.repeat(1_100_000) } }],
  ['values', { input: { list: Array(51_000).fill(0) } }],
  ['a field that nobody knows', { more: 'x'.repeat(1_100_000) }],
])('a question with %s that no approver could be shown is not asked', (_, large) =>
  withRun(async ({ ask, asked }) => {
    expect(await ask('tool.request_approval', { ...approval('exec'), ...large })).toMatchObject({ approved: false });
    expect(asked).toEqual([]);
  }),
);

test('a call whose provider gave it a long id is asked about and made', () =>
  withRun(async ({ ask, asked }) => {
    const call_id = 'x'.repeat(5_000);
    expect(await ask('tool.request_approval', { ...approval('exec'), call_id })).toMatchObject({ approved: true });
    expect(await ask('tool.call', { ...call('exec'), call_id })).toMatchObject({ kind: 'ok' });
    expect(asked[0]?.call_id).toHaveLength(64);
  }));

test('of answered questions little stays in memory', () =>
  withRun(async ({ ask }) => {
    const before = usedHeap();
    for (let nth = 0; nth < 64; nth += 1)
      await ask('tool.request_approval', approval('exec', { text: `${nth}`.repeat(400_000) }));
    expect(usedHeap() - before).toBeLessThan(8_000_000);
  }));

test('an approval that is asked for again before the call is the same one', () =>
  withRun(async ({ ask, asked }) => {
    await ask('tool.request_approval', approval('exec'));
    await ask('tool.request_approval', approval('exec'));
    expect(asked).toHaveLength(1);
  }));

test('a no is no approval', () =>
  withRun(
    async ({ ask, reached }) => {
      await ask('tool.request_approval', approval('exec'));
      expect(await ask('tool.call', call('exec'))).toMatchObject({ kind: 'error' });
      expect(reached).toEqual([]);
    },
    { approved: false },
  ));

test.each([
  ['what the policy denies', approval('delete')],
  ['an input that the policy denies', approval('exec', { namespace: 'kube-system' })],
  ['a server that the agent does not list', { ...approval('get'), server: 'secrets' }],
  ['what needs no approval', approval('get')],
  ['arguments that are no object', { ...approval('exec'), input: 'please' }],
])('nobody is asked to approve %s, and it is not approved', (_, question) =>
  withRun(async ({ ask, asked }) => {
    expect(await ask('tool.request_approval', question)).toMatchObject({ approved: false });
    expect(asked).toEqual([]);
  }),
);

test('people are asked for what the agent wants approved, in the words of the policy and not of the pod', () =>
  withRun(
    async ({ ask, asked }) => {
      for (const tool of ['exec', 'get'])
        await ask('tool.request_approval', { ...approval(tool), reason: 'the operator asked for this' });
      expect(asked).toMatchObject([
        { tool: 'exec', reason: 'it changes things' },
        { tool: 'get', reason: null },
      ]);
    },
    { agent: { require_approval: ['k8s/get'] } },
  ));

test('a question that is asked again is answered again and done once', () =>
  withRun(async ({ ask, reached }) => {
    const question = call('get');
    expect(await ask('tool.call', question)).toEqual({ kind: 'ok', text: 'call 1' });
    expect(await ask('tool.call', question)).toEqual({ kind: 'ok', text: 'call 1' });
    expect(reached).toHaveLength(1);
  }));

test('of those who send one request again one waits for its answer, the last', () =>
  withRun(async (world) => {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    world.tool = () => promise;
    const question = call('get');
    const [first, second, last] = [1, 2, 3].map(() => world.ask('tool.call', question));
    expect(await Promise.all([first, second])).toEqual(['duplicate', 'duplicate']);
    resolve({ kind: 'ok', text: 'done' });
    expect(await last).toEqual({ kind: 'ok', text: 'done' });
    expect(world.reached).toHaveLength(1);
  }));

test('so it is with a question to people', () =>
  withRun(async ({ ask, asked }) => {
    const [first, last] = await Promise.all([1, 2].map(() => ask('tool.request_approval', approval('exec'))));
    expect(first).toEqual({ approved: false, comment: 'the question was sent again' });
    expect(last).toMatchObject({ approved: true });
    expect(asked).toHaveLength(1);
  }));

test('calls in the pod are counted as its events say, of the servers that the agent lists', () =>
  withRun(async ({ ask, counted }) => {
    const event = { run_id: 'run-1', ts: '2026-01-01T00:00:00Z', call_id: 'c1', tool: 'echo' };
    const result = { ...event, event: 'tool_result', is_error: false, result: '', duration_ms: 1 };
    for (const server of ['beside', 'k8s', 'invented']) await ask('agent.event', { ...result, server });
    const denied = { ...event, event: 'tool_denied', reason: 'no' };
    for (const server of ['beside', 'invented']) await ask('agent.event', { ...denied, server });
    expect(counted).toEqual([
      { run_id: null, server: 'beside', outcome: 'ok' },
      { run_id: null, server: 'beside', outcome: 'denied' },
    ]);
  }));

test('a tool that no pod of the agent lists is counted as another one, whatever its pod calls it', () =>
  withRun(async ({ ask, tools }) => {
    const event = { run_id: 'run-1', ts: '2026-01-01T00:00:00Z', call_id: 'c1', server: 'beside' };
    const result = { ...event, event: 'tool_result', is_error: false, result: '', duration_ms: 1 };
    for (const tool of ['echo', 'invented']) {
      await ask('agent.event', { ...result, tool });
      await ask('agent.event', { ...event, event: 'tool_denied', reason: 'no', tool });
    }
    expect(tools).toEqual(['echo', 'echo', 'other', 'other']);
  }));

test('a call in the pod takes as long as its pod says, and no longer than its run', () =>
  withRun(async ({ ask, seconds }) => {
    const event = { run_id: 'run-1', ts: '2026-01-01T00:00:00Z', call_id: 'c1', tool: 'echo', server: 'beside' };
    for (const duration_ms of [0, 1e300, -1, 1e999])
      await ask('agent.event', { ...event, event: 'tool_result', is_error: false, result: '', duration_ms });
    expect(seconds).toEqual([0, expect.any(Number)]);
    expect(seconds[1]).toBeLessThan(60);
  }));

test('what is held for a run is said: its requests until they are answered, and the answers that are kept', () =>
  withRun(async (world) => {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    world.tool = () => promise;
    const [first, second] = [1, 2].map(() => world.ask('tool.call', call('get', `{"a":"${'x'.repeat(100_000)}"}`)));
    expect(Math.round(world.held() / 10_000)).toBe(20);
    resolve({ kind: 'ok', text: 'x'.repeat(900) });
    await Promise.all([first, second]);
    expect(world.held()).toBeGreaterThan(1_800);
    expect(world.held()).toBeLessThan(2_000);
  }));

test('so are questions, until people have answered', () =>
  withRun(async (world) => {
    const question = world.ask('tool.request_approval', approval('exec', { text: 'x'.repeat(100_000) }));
    expect(Math.round(world.held() / 10_000)).toBe(10);
    await question;
    expect(world.held()).toBe(0);
    const values = world.ask('tool.request_approval', approval('exec', Array(1_000).fill(0)));
    expect(world.held()).toBeGreaterThan(40_000);
    await values;
  }));
