import { AgentRunResult, AgentRunSpent } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { RunOutcome } from '../runs/run-outcome.ts';
import { outcomeOf, REPLIED, withRun, type World } from '../testing/hosted-run.ts';

const PROMPT = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }];
let asks = 0;
const turn = ({ ask }: World, call: object = {}) =>
  ask('model.generate', { ask: (asks += 1), call: { prompt: PROMPT, tools: [], ...call } });
const get = ({ ask }: World) =>
  ask('tool.call', { ask: (asks += 1), call_id: 'c1', server: 'k8s', tool: 'get', input: '{}' });
const ANSWERED = { ok: true, reply: { finish: 'stop' } };
const refused = (message: string) => ({ ok: false, failure: { message: expect.stringContaining(message) } });

test.each([
  ['the gateway', { maxIterations: 2 }],
  ['the agent', { agent: { limits: { max_iterations: 2 } } }],
])('a pod gets as many turns of the model as %s allows a run', (_, options) =>
  withRun(async (world) => {
    expect(await turn(world)).toMatchObject(ANSWERED);
    expect(await turn(world)).toMatchObject(ANSWERED);
    expect(await turn(world)).toMatchObject(refused('limits.max_iterations'));
    expect(world.calls).toHaveLength(2);
  }, options),
);

test('a pod gets no turn once the tokens of its run are used, those of lost answers too', () =>
  withRun(
    async (world) => {
      expect(await turn(world)).toMatchObject(ANSWERED);
      const lost = [{ route: { provider: 'p', model: 'm' }, usage: { input: 5, output: 0, cachedInput: null } }];
      world.model = () => Promise.resolve({ ...REPLIED, lost });
      expect(await turn(world)).toMatchObject(ANSWERED);
      expect(await turn(world)).toMatchObject(refused('limits.max_total_tokens'));
      expect(world.calls).toHaveLength(2);
    },
    { agent: { limits: { max_total_tokens: 25 } } },
  ));

test('a pod asks one thing of a model at a time, so that what the last answer used is known', () =>
  withRun(async (world) => {
    const { promise, resolve } = Promise.withResolvers<typeof REPLIED>();
    world.model = () => (world.calls.length === 1 ? promise : Promise.resolve(REPLIED));
    const first = turn(world);
    expect(await turn(world)).toMatchObject({ ok: false });
    resolve(REPLIED);
    expect(await first).toMatchObject(ANSWERED);
    expect(await turn(world)).toMatchObject(ANSWERED);
    expect(world.calls).toHaveLength(2);
  }));

test.each([
  ['those of the agent', 2, { agent: { limits: { max_tool_calls: 2 } } }],
  ['32 for each turn', 32, { maxIterations: 1 }],
])('a pod gets as many calls of tools as a run may make: %s', (_, calls, options) =>
  withRun(async (world) => {
    for (let made = 0; made < calls; made++) expect(await get(world)).toMatchObject({ kind: 'ok' });
    expect(await get(world)).toMatchObject({ kind: 'error', text: expect.stringContaining('limit of tool calls') });
    expect(world.reached).toHaveLength(calls);
  }, options),
);

const LIES = {
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  usage_by_model: [{ provider: 'x', model: 'free', input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 }],
  iterations: 1,
  tool_calls: 0,
  model: 'free',
  provider: 'x',
  answered_by: 'free',
};
const TRUTH = {
  usage: { input_tokens: 16, output_tokens: 4, cached_input_tokens: 0 },
  usage_by_model: undefined,
  iterations: 2,
  tool_calls: 1,
  model: 'm',
  provider: 'p',
};
const result = AgentRunResult.parse({ ...LIES, run_id: 'run-1', status: 'completed', text: 'done', duration_ms: 1 });
const partial = AgentRunSpent.parse(LIES);
const failed: RunOutcome = { ok: false, type: 'internal', message: 'the pod says so', retryable: false, partial };

test.each<[string, RunOutcome, object]>([
  ['answered', { ok: true, result }, { result: { ...TRUTH, answered_by: 'm-1', text: 'done' } }],
  ['failed', failed, { partial: TRUTH, message: 'the pod says so' }],
])('what a run that %s has used is what its models said, not what its pod says', async (_, ends, counted) => {
  const outcome = await outcomeOf(
    async (world) => {
      await turn(world);
      await get(world);
      await turn(world);
    },
    { ends },
  );
  expect(outcome).toMatchObject(counted);
});

test('calls of tools in the pod are counted as it says', async () => {
  const outcome = await outcomeOf(get, { ends: { ok: true, result: { ...result, tool_calls: 3 } } });
  expect(outcome).toMatchObject({ result: { tool_calls: 3, usage: null, iterations: 0 } });
});

const tool = (name: string) => ({ type: 'function', name, description: '', inputSchema: { type: 'object' } });

test('a model is asked as the agent says: of a pod come only the prompt and the tools of its own servers', () =>
  withRun(
    async (world) => {
      const own = { ...tool('beside__echo'), providerOptions: { p: { paid: true } } };
      const said = { maxOutputTokens: 1_000_000, temperature: 2, thinking: 'max', answerSchema: {} };
      await turn(world, { ...said, tools: [tool('k8s__get'), own, tool('k8s__invented'), tool('secrets__read')] });
      expect(world.calls).toMatchObject([
        { prompt: PROMPT, maxOutputTokens: 100, temperature: 0.5, thinking: 'low', answerSchema: null },
      ]);
      const tools = world.calls[0]?.tools ?? [];
      expect(tools.map(({ name }) => name)).toEqual(['k8s__get', 'k8s__delete', 'k8s__exec', 'beside__echo']);
      expect(tools[0]).toEqual({ ...tool('k8s__get'), inputSchema: {} });
      expect(tools[3]).toEqual(tool('beside__echo'));
    },
    { agent: { max_tokens: 100, temperature: 0.5, thinking_level: 'low' } },
  ));

test.each([
  ['a tool that the provider executes', { tools: [{ type: 'provider', id: 'p.web_search', name: 'web', args: {} }] }],
  ['a file', { prompt: [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'x' }] }] }],
  ['a prompt that no model could read', { prompt: [null] }],
  ['no prompt', { prompt: undefined }],
])('a pod that sends %s is refused, and no model is asked', (_, call) =>
  withRun(async (world) => {
    expect(await turn(world, call)).toBe('invalid_params');
    expect(world.calls).toEqual([]);
  }),
);

test('a run whose pod sends ten requests that nobody can read is over', async () => {
  const answers: unknown[] = [];
  await withRun(async (world) => {
    for (let sent = 1; sent < 10; sent += 1) await turn(world, { prompt: [null] });
    answers.push(await get(world), await world.ask('tool.request_approval', { server: 1 }), await get(world));
  });
  expect(answers).toEqual([{ kind: 'ok', text: 'call 1' }, 'invalid_params', 'cancelled']);
});
