import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DIALECTS } from '../testing/dialects.ts';
import { type FakeAnswer, type JsonBody, startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';
import { join } from 'node:path';
import { until } from '../testing/until.ts';

const chat = DIALECTS['openai_compatible'] as (typeof DIALECTS)[string];
const TOOL_SERVER = join(import.meta.dirname, '../testing/misbehaving-server.ts');

/** A gateway whose `fake` and `spare` providers give the prepared answers. */
async function gatewayWith(
  answers: FakeAnswer[],
  options: { config?: Record<string, unknown>; agent?: Record<string, unknown>; spare?: FakeAnswer[] } = {},
) {
  const fake = await startFakeModelServer(answers);
  const spare = await startFakeModelServer(
    options.spare ?? [chat.text('{"confidence":0.7,"summary":"from the spare"}')],
  );
  const gateway = await startTestGateway({
    agents: { worker: { soul: 'You work.', config: { model: 'fake/m-1', ...options.agent } } },
    config: {
      providers: {
        fake: { type: 'openai_compatible', api_key: 'key-of-the-fake', base_url: `${fake.url}/v1`, default: true },
        spare: { type: 'openai_compatible', base_url: `${spare.url}/v1` },
        keyless: { type: 'anthropic', api_key: '' },
      },
      mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } },
      ...options.config,
    },
  });
  opened.push(async () => {
    await gateway.close();
    await fake.close();
    await spare.close();
  });
  const client = await gateway.rpc();
  const run = (params: Record<string, unknown> = {}) =>
    client.call('agent.run', { agent: 'worker', input: 'Go.', ...params });
  return { gateway, client, run, fake, spare };
}
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

const SCHEMA = { type: 'object', properties: { confidence: { type: 'number' } }, required: ['confidence'] };
const lastMessage = (body: JsonBody) => body.messages.at(-1);

describe('an answer with a schema', () => {
  test('is told in the system prompt, found in a fence and returned as output', async () => {
    const { run, fake } = await gatewayWith([chat.text('Sure:\n```json\n{"confidence": 0.9}\n```')]);
    const { result } = await run({ output_schema: SCHEMA });
    expect(result).toMatchObject({
      output: { confidence: 0.9 },
      answered_by: 'm-dated',
      model: 'm-1',
      provider: 'fake',
    });
    expect(fake.requests[0]?.body.messages[0].content).toContain('"required":["confidence"]');
  });

  test('is repaired in one more turn that says what is wrong', async () => {
    const { run, fake } = await gatewayWith([chat.text('{"confidence": "high"}'), chat.text('{"confidence": 0.4}')]);
    const { result } = await run({ output_schema: SCHEMA });
    expect(result).toMatchObject({
      output: { confidence: 0.4 },
      iterations: 2,
      usage: { input_tokens: 200, output_tokens: 40, cached_input_tokens: 60 },
    });
    expect(lastMessage(fake.requests[1]?.body).content).toContain('confidence must be number');
  });

  test('fails after one repair, with what was used', async () => {
    const { run, fake } = await gatewayWith([chat.text('no'), chat.text('still no'), chat.text('{"confidence": 1}')]);
    const { error } = await run({ output_schema: SCHEMA });
    expect([error?.code, error?.data]).toMatchObject([
      -32015,
      { type: 'output_invalid', retryable: false, iterations: 2, usage: { input_tokens: 200 } },
    ]);
    expect(fake.requests).toHaveLength(2);
  });

  test('that was cut off says so', async () => {
    const { json } = chat.text('{"confidence": 0.') as { json: { choices: object[] } };
    const cut = { json: { ...json, choices: json.choices.map((one) => ({ ...one, finish_reason: 'length' })) } };
    const { run } = await gatewayWith([cut]);
    expect((await run({ output_schema: SCHEMA })).error).toMatchObject({
      code: -32015,
      message: expect.stringContaining('cut off at its limit of tokens (max_tokens)'),
    });
  });

  test('needs the agent’s own keys where the call says nothing of them', async () => {
    const { run } = await gatewayWith(
      [chat.text('{"confidence": 1}'), chat.text('{"confidence": 1, "service": "cart"}')],
      {
        agent: {
          output_schema: { type: 'object', properties: { service: { type: 'string' } }, required: ['service'] },
        },
      },
    );
    expect((await run({ output_schema: SCHEMA })).result).toMatchObject({ output: { service: 'cart' }, iterations: 2 });
  });
});

describe('models', () => {
  test('429 is retried, then the next model answers, and both are told', async () => {
    const { run, client, fake } = await gatewayWith(
      [{ ...chat.error(429, 'busy'), headers: { 'retry-after-ms': '5' } }],
      { agent: { model_fallbacks: ['spare/m-2'] } },
    );
    const { result } = await run();
    expect(result).toMatchObject({ provider: 'spare', model: 'm-2' });
    expect(fake.requests).toHaveLength(3);
    expect(client.events().map(({ event }) => event)).toEqual([
      'accepted',
      'started',
      'llm_retry',
      'llm_retry',
      'model_fallback',
      'llm_call',
    ]);
    expect(await client.event('model_fallback')).toMatchObject({
      from: 'fake/m-1',
      to: 'spare/m-2',
      reason: expect.stringContaining('429'),
    });
  });

  test('a refusal is not retried but falls back', async () => {
    const { run, fake } = await gatewayWith([chat.error(401, 'bad key')], {
      agent: { model_fallbacks: ['keyless/x', 'spare/m-2'] },
    });
    expect((await run()).result).toMatchObject({ provider: 'spare' });
    expect(fake.requests).toHaveLength(1);
  });

  test('a model that hangs is given up at its timeout', async () => {
    const { run } = await gatewayWith([{ hang: true }], {
      agent: { model_fallbacks: ['spare/m-2'] },
      config: { limits: { request_timeout_seconds: 2 } },
    });
    expect((await run()).result).toMatchObject({ provider: 'spare' });
  });

  test('without another one the run fails and says whether to try again', async () => {
    const { run } = await gatewayWith([chat.error(400, 'no such model')]);
    const { error } = await run();
    expect([error?.code, error?.data]).toMatchObject([-32013, { type: 'provider_error', retryable: false }]);
    expect(error?.message).toContain('no such model');
    expect((await run({ model: 'keyless/claude' })).error?.message).toContain('no credentials');
  });

  test('a key that the provider repeats is not passed on', async () => {
    const { run } = await gatewayWith([chat.error(401, 'wrong key: key-of-the-fake')]);
    expect((await run()).error?.message).toBe('401: wrong key: ***');
  });

  test('the call’s model goes first, a bare name to the default provider', async () => {
    const { run, fake, spare } = await gatewayWith([chat.text('x')]);
    await run({ model: 'bare-name' });
    await run({ model: 'spare/org/m-3' });
    expect(fake.requests[0]?.body.model).toBe('bare-name');
    expect(spare.requests[0]?.body.model).toBe('org/m-3');
  });

  test('temperature, max_tokens and thinking level reach the provider', async () => {
    const { run, fake } = await gatewayWith([chat.text('x')], {
      agent: { temperature: 0.2, max_tokens: 321, thinking_level: 'low' },
    });
    await run();
    expect(fake.requests[0]?.body).toMatchObject({ temperature: 0.2, max_tokens: 321, reasoning_effort: 'low' });
  });

  test('text streams when the caller asks for it', async () => {
    const { run, client } = await gatewayWith([chat.stream(['one ', 'two'])]);
    expect((await run({ trace: { stream: true } })).result).toMatchObject({
      text: 'one two',
      usage: { cached_input_tokens: 30 },
    });
    expect(
      client
        .events()
        .filter(({ event }) => event === 'text')
        .map(({ text }) => text),
    ).toEqual(['one ', 'two']);
  });

  test('a model that a run waits for in vain is counted as a timeout, whoever’s time it was', async () => {
    const { run, gateway } = await gatewayWith([{ hang: true }]);
    expect((await run({ timeout_ms: 200 })).error?.data['type']).toBe('timeout');
    const series = 'gateway_llm_requests_total{provider="fake",model="m-1",outcome="timeout"} 1';
    await until(async () => String((await gateway.http('GET', '/metrics')).body).includes(series));
  });

  test('cancelling reaches the model, and is counted', async () => {
    const { run, client, fake, gateway } = await gatewayWith([{ hang: true }]);
    const running = run({ idempotency_key: 'stop' });
    await until(() => fake.requests.length === 1);
    await client.call('agent.cancel', { idempotency_key: 'stop' });
    expect((await running).error?.data['type']).toBe('cancelled');
    const series = 'gateway_llm_requests_total{provider="fake",model="m-1",outcome="cancelled"} 1';
    await until(async () => String((await gateway.http('GET', '/metrics')).body).includes(series));
  });
});

describe('tools', () => {
  const ask = (name: string, input = {}) => chat.toolCall({ name, input });
  const TOOLS = { tools: ['host'] };

  test('a call goes to the server and its result back to the model', async () => {
    const { run, fake, client } = await gatewayWith([ask('host__ok', { minutes: 5 }), chat.text('done')], {
      agent: TOOLS,
    });
    const { result } = await run({ trace: { tool_result_max_chars: 10 } });
    expect(result).toMatchObject({ iterations: 2, tool_calls: 1, text: 'done' });
    expect(lastMessage(fake.requests[1]?.body)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('{"got":{"minutes":5}'),
    });
    const trace = result?.['trace'] as object[] | undefined;
    expect(trace?.[1]).toMatchObject({
      type: 'tool_call',
      server: 'host',
      tool: 'ok',
      input: { minutes: 5 },
      result: '{"got":{"m…',
    });
    expect(await client.event('tool_result')).toMatchObject({ is_error: false, server: 'host', tool: 'ok' });
  });

  test.each([
    ['a name that was not offered', 'host__nope', 'there is no tool'],
    ['a server that goes down', 'host__exit', 'tool server'],
    ['a tool that hangs', 'host__hang', 'did not answer within 1 s', { limits: { tool_timeout_seconds: 1 } }],
    ['the tool’s own error', 'host__error', 'it failed'],
  ])('%s is an error result and the run goes on', async (_, name, text, config?: Record<string, unknown>) => {
    const { run, fake } = await gatewayWith([ask(name), chat.text('went on')], {
      agent: TOOLS,
      ...(config ? { config } : {}),
    });
    expect((await run()).result).toMatchObject({ text: 'went on' });
    expect(lastMessage(fake.requests[1]?.body).content).toContain(text);
  });

  test('only what the agent’s list names is offered, and of that only read-only tools when it says so', async () => {
    const { run, fake } = await gatewayWith([chat.text('x')], { agent: { tools: ['host/e*'] } });
    await run();
    expect(chat.toolsOf(fake.requests[0]?.body)).toEqual(['host__exit', 'host__error', 'host__env']);
    const readOnly = await gatewayWith([chat.text('x')], { agent: { tools: ['host'], read_only: true } });
    await readOnly.run();
    expect(chat.toolsOf(readOnly.fake.requests[0]?.body)).toEqual(['host__ok']);
  });

  test('a denied call never leaves, the model hears why', async () => {
    const { run, fake, client, gateway } = await gatewayWith(
      [ask('host__ok', { path: '/etc/shadow' }), chat.text('fine')],
      {
        agent: TOOLS,
        config: {
          tool_policy: { rules: [{ deny: { server: 'host', input_regex: 'shadow' }, reason: 'no passwords' }] },
        },
      },
    );
    expect((await run()).result).toMatchObject({
      text: 'fine',
      trace: [{}, { type: 'tool_denied', reason: 'no passwords' }, {}],
    });
    expect(lastMessage(fake.requests[1]?.body).content).toContain('no passwords');
    expect(await client.event('tool_denied')).toMatchObject({ server: 'host', tool: 'ok', reason: 'no passwords' });
    expect(client.events().some(({ event }) => event === 'tool_call')).toBe(false);
    expect((await gateway.http('GET', '/metrics')).body).toContain(
      'gateway_tool_denials_total{server="host",tool="ok",agent="worker"} 1',
    );
  });

  test('a call that its run did not wait for is counted as cancelled', async () => {
    const { run, client, gateway } = await gatewayWith([ask('host__hang')], { agent: TOOLS });
    const running = run({ idempotency_key: 'stop' });
    await client.event('tool_call');
    await client.call('agent.cancel', { idempotency_key: 'stop' });
    expect((await running).error?.data['type']).toBe('cancelled');
    const series = 'gateway_tool_calls_total{server="host",tool="hang",outcome="cancelled"} 1';
    expect((await gateway.http('GET', '/metrics')).body).toContain(series);
  });

  test('arguments that are no object are an error result', async () => {
    const broken = chat.toolCall({ name: 'host__ok', input: [] as never });
    const { run, fake } = await gatewayWith([broken, chat.text('x')], { agent: TOOLS });
    await run();
    expect(lastMessage(fake.requests[1]?.body).content).toContain('must be a JSON object');
  });

  test('a large result is cut for the model', async () => {
    const { run, fake } = await gatewayWith([ask('host__big'), chat.text('x')], {
      agent: TOOLS,
      config: { limits: { tool_result_max_chars: 1000 } },
    });
    await run();
    expect(lastMessage(fake.requests[1]?.body).content).toHaveLength(1000 + '\n[cut: 4999000 more characters]'.length);
  });

  test('limits: turns of the model, tokens, tool calls', async () => {
    const turns = await gatewayWith([ask('host__ok')], { agent: { ...TOOLS, limits: { max_iterations: 3 } } });
    const { error } = await turns.run();
    expect(error).toMatchObject({ code: -32014, data: { iterations: 3, tool_calls: 3 } });
    expect(error?.data).toMatchObject({ usage: { input_tokens: 300 }, agent_version: expect.any(String) });
    const calls = [{ type: 'llm_call' }, { type: 'tool_call' }];
    expect(error?.data).toMatchObject({ trace: [...calls, ...calls, ...calls] });
    const tokens = await gatewayWith([ask('host__ok')], { agent: { ...TOOLS, limits: { max_total_tokens: 200 } } });
    expect((await tokens.run()).error).toMatchObject({ code: -32014, data: { iterations: 2 } });
    const toolCalls = await gatewayWith([ask('host__ok'), ask('host__ok'), chat.text('x')], {
      agent: { ...TOOLS, limits: { max_tool_calls: 1 } },
    });
    expect((await toolCalls.run()).result).toMatchObject({ tool_calls: 1 });
    expect(lastMessage(toolCalls.fake.requests[2]?.body).content).toContain('the limit of 1 tool calls');
  });

  test.each([
    ['texts', 5, 'x'.repeat(3_900_000)],
    ['values, which take more memory than their characters', 8, Array.from({ length: 24_990 }, () => ({}))],
  ])('a run ends before its model is sent more %s than any model reads', async (_, turns, filler) => {
    const { run, fake } = await gatewayWith([ask('host__ok', { filler })], { agent: TOOLS });
    const { error } = await run();
    expect(error?.message).toBe('the run holds more than 16777216 characters');
    expect(fake.requests).toHaveLength(turns);
  });

  test('the operator’s turns hold where an agent allows itself more, and its author is told', async () => {
    const limits = { max_iterations: 2 };
    const { run, gateway } = await gatewayWith([ask('host__ok')], {
      agent: { ...TOOLS, limits: { max_iterations: 5 } },
      config: { limits },
    });
    const { error } = await run();
    expect(error).toMatchObject({ code: -32014, data: { iterations: 2 } });
    expect(error?.message).toContain("the gateway's limits.max_iterations");
    const message = "the gateway's limits.max_iterations, 2, is lower and applies";
    const warning = { agent: 'worker', field: 'limits.max_iterations', value: 5, message, severity: 'warning' };
    expect((await gateway.http('GET', '/agents')).body.errors).toEqual([warning]);
  });

  test('a tool that is not there is a warning of the run, and a run that has none of its tools ends', async () => {
    const some = await gatewayWith([chat.text('x')], { agent: { tools: ['host/ok', 'host/gone'] } });
    expect((await some.run()).result?.['warnings']).toEqual(["no tool matches host/gone of the agent's tools"]);
    const none = await gatewayWith([chat.text('x')], { agent: { tools: ['host/gone'] } });
    expect((await none.run()).error).toMatchObject({
      message: "no tool matches host/gone of the agent's tools",
      data: { type: 'tool_unavailable', retryable: true },
    });
  });

  test('a server that does not run fails the run as something to try again', async () => {
    const { run } = await gatewayWith([chat.text('x')], {
      agent: TOOLS,
      config: { mcp_servers: { host: { command: '/nonexistent' } } },
    });
    expect((await run({ timeout_ms: 300 })).error?.code).toBe(-32011);
  });
});

describe('approval', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      agents: {
        careful: {
          config: { tools: ['host'], require_approval: ['host/ok'] },
          soul: 'x\n```demo\ncalls:\n  - {tool: host/ok, input: {a: 1}}\nanswer: {confidence: 1, summary: "{{results.0}}"}\n```\n',
        },
        slow: {
          config: { tools: ['host'] },
          soul: '```demo\ncalls: [{tool: host/hang}]\nanswer: {confidence: 1}\n```',
        },
      },
      config: {
        limits: { max_concurrent_runs: 1 },
        mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } },
      },
    });
  });
  afterAll(() => gateway.close());

  test('the client is asked, and yes lets the call through', async () => {
    const client = await gateway.rpc();
    client.onRequest = ({ params }) => ({
      approved: true,
      decided_by: 'ann',
      input_sha256: params?.['input_sha256'],
    });
    const { result } = await client.call('agent.run', {
      agent: 'careful',
      input: '',
      metadata: { run_id: 'r', step_name: 's' },
    });
    expect(result?.['text']).toContain('got');
    const asked = client.messages.find(({ method }) => method === 'tool.request_approval');
    expect(asked?.params).toMatchObject({
      agent: 'careful',
      server: 'host',
      tool: 'ok',
      input: { a: 1 },
      input_sha256: '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862',
      metadata: { run_id: 'r' },
    });
    expect(await client.event('approval_decided')).toMatchObject({ approved: true, decided_by: 'ann' });
  });

  test('no is an error result', async () => {
    const client = await gateway.rpc();
    client.onRequest = () => ({ approved: false, comment: 'not now' });
    const { result } = await client.call('agent.run', { agent: 'careful', input: '' });
    expect(result?.['text']).toContain('not now');
    expect(client.events().some(({ event }) => event === 'tool_call')).toBe(false);
  });

  test('a run that waits for an approval leaves its slot to others, and takes it again before the tool is called', async () => {
    const asker = await gateway.rpc();
    let approve = () => {};
    asker.onRequest = ({ params }) =>
      new Promise((resolve) => {
        approve = () => resolve({ approved: true, input_sha256: params?.['input_sha256'] });
      });
    const waiting = asker.call('agent.run', { agent: 'careful', input: '' });
    await asker.event('approval_requested');
    const counts = async () => (await gateway.http('GET', '/health')).body;
    await until(async () => (await counts()).waiting_approvals === 1);
    expect((await counts()).active_runs).toBe(0);
    const other = await gateway.rpc();
    const held = other.call('agent.run', { agent: 'slow', input: '', idempotency_key: 'held' });
    await other.event('tool_call');
    approve();
    await until(async () => (await counts()).waiting_approvals === 0);
    expect(asker.events().some(({ event }) => event === 'tool_call')).toBe(false);
    await other.call('agent.cancel', { idempotency_key: 'held' });
    await held;
    expect((await waiting).result).toMatchObject({ status: 'completed', tool_calls: 1 });
    expect(await counts()).toMatchObject({ active_runs: 0, waiting_approvals: 0 });
  });

  test('nobody decides: the run ends at its time and the tool was never called', async () => {
    const client = await gateway.rpc();
    const { error } = await client.call('agent.run', { agent: 'careful', input: '', timeout_ms: 200 });
    expect(error?.data['type']).toBe('timeout');
    expect(client.events().some(({ event }) => event === 'tool_call')).toBe(false);
  });
});
