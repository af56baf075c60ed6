import { afterEach, describe, expect, test } from 'vitest';
import { DIALECTS } from '../../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../../testing/fake-model-server.ts';
import { describeFailure } from '../failure.ts';
import type { ModelCall } from '../model.ts';
import { createModels } from '../models.ts';
import { providerEntries } from '../provider-entries.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const CALL: ModelCall = {
  prompt: [
    { role: 'system', content: 'You are a test.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello?' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'host__load',
      description: 'Load',
      inputSchema: { type: 'object', properties: { minutes: { type: 'number' } } },
    },
  ],
  maxOutputTokens: 500,
  answerSchema: null,
};

describe.each(Object.entries(DIALECTS))('%s', (_, dialect) => {
  async function modelFor(answers: FakeAnswer[], id = 'm-1') {
    const server = await startFakeModelServer(answers);
    closing.push(server.close);
    const options = {
      type: dialect.type,
      base_url: server.url + dialect.basePath,
      api_key: 'secret-key',
      headers: {},
      default: true,
      ...dialect.options,
    };
    const models = createModels(providerEntries({ it: options }));
    const model = await models.open({ provider: 'it', model: id });
    if (!model) throw new Error('not configured');
    return { model, server };
  }
  const signal = () => AbortSignal.timeout(50_000);

  test('text, usage with cached tokens, and the model that answered', async () => {
    const { model, server } = await modelFor([dialect.text('Hi.')]);
    const reply = await model.generate(CALL, { signal: signal() });
    expect(reply.content.filter(({ type }) => type === 'text')).toMatchObject([{ text: 'Hi.' }]);
    expect(reply).toMatchObject({ finish: 'stop', usage: { input: 100, output: 20, cachedInput: 30 } });
    const [request] = server.requests;
    expect(request?.path).toBe(dialect.path);
    expect(String(dialect.key(request?.headers ?? {}))).toContain('secret-key');
    expect(dialect.maxTokensOf(request?.body)).toBe(500);
    expect(JSON.stringify(request?.body)).toContain('You are a test.');
    expect(dialect.toolsOf(request?.body)).toEqual(['host__load']);
  });

  test('a temperature is said where one is asked for', async () => {
    const { model, server } = await modelFor([dialect.text('x')]);
    await model.generate({ ...CALL, temperature: 0.25 }, { signal: signal() });
    await model.generate(CALL, { signal: signal() });
    expect(server.requests.map(({ body }) => dialect.temperatureOf(body))).toEqual([0.25, undefined]);
  });

  test('a tool call, and the conversation that goes on with its result', async () => {
    const { model, server } = await modelFor([
      dialect.toolCall({ name: 'host__load', input: { minutes: 5 } }),
      dialect.text('Low.'),
    ]);
    const first = await model.generate(CALL, { signal: signal() });
    const call = first.content.find((part) => part.type === 'tool-call');
    expect(call).toMatchObject({ toolName: 'host__load', input: '{"minutes":5}' });
    const toolCallId = call?.toolCallId ?? '';
    const reply = await model.generate(
      {
        ...CALL,
        prompt: [
          ...CALL.prompt,
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId, toolName: 'host__load', input: { minutes: 5 } }],
          },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId,
                toolName: 'host__load',
                output: { type: 'text', value: 'load is 0.42' },
              },
            ],
          },
        ],
      },
      { signal: signal() },
    );
    expect(reply.content.at(-1)).toMatchObject({ type: 'text', text: 'Low.' });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('load is 0.42');
  });

  test('streamed text arrives in pieces and sums up to the same reply', async () => {
    const { model } = await modelFor([dialect.stream(['Str', 'eam', 'ed'])]);
    const deltas: string[] = [];
    const reply = await model.generate(CALL, { signal: signal(), onText: (delta) => deltas.push(delta) });
    expect(deltas.join('')).toBe('Streamed');
    expect(reply.content.map((part) => (part.type === 'text' ? part.text : '')).join('')).toBe('Streamed');
    expect(reply).toMatchObject({
      finish: 'stop',
      usage: { input: 100, output: 20, cachedInput: 30 },
      modelId: 'm-dated',
    });
  });

  test('an answer of many values that fit nothing is refused before each of them is described', async () => {
    const parts = Array.from({ length: 100_000 }, () => ({}));
    const json = { choices: parts, content: parts, output: parts, candidates: parts };
    const { model } = await modelFor([{ json }, { json, status: 400 }]);
    for (const said of ['more than 50000 values', '']) {
      const before = process.memoryUsage().heapUsed;
      const error: unknown = await model.generate(CALL, { signal: signal() }).catch((reason: unknown) => reason);
      expect(JSON.stringify([describeFailure(error), String((error as Error).cause)])).toContain(said);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
    }
  });

  test('arguments of a call with more values than one answer may have are refused, in one piece and streamed', async () => {
    const call = { name: 'host__load', input: { list: Array.from({ length: 20_000 }, () => [[]]) } };
    const { model } = await modelFor([dialect.toolCall(call), dialect.streamToolCall(call)]);
    for (const options of [{}, { onText: () => {} }]) {
      const asked = model.generate(CALL, { signal: signal(), ...options });
      const error: unknown = await asked.catch((reason: unknown) => reason);
      // Some providers send them as a text, others as part of their JSON.
      expect(`${String(error)} ${String((error as Error).cause)}`).toMatch(/is too large|more than 50000 values/);
    }
  });

  test('a streamed tool call is put together', async () => {
    const { model } = await modelFor([dialect.streamToolCall({ name: 'host__load', input: { minutes: 15 } })]);
    const reply = await model.generate(CALL, { signal: signal(), onText: () => {} });
    const [call] = reply.content.filter((part) => part.type === 'tool-call');
    expect(call).toMatchObject({ toolName: 'host__load' });
    expect(JSON.parse(call?.input ?? '')).toEqual({ minutes: 15 });
    expect(reply).toMatchObject({ finish: 'tool-calls', usage: { cachedInput: 30 } });
  });

  test.each([429, 503])('status %i before a stream is a retryable failure', async (status) => {
    const { model } = await modelFor([dialect.error(status, 'it said no')]);
    const failure = describeFailure(
      await model.generate(CALL, { signal: signal(), onText: () => {} }).catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ status, retryable: true });
  });

  test.each(['off', 'low', 'medium', 'high'] as const)('thinking level %s is said in its own words', async (level) => {
    const { model, server } = await modelFor([dialect.text('x')], dialect.thinking.model);
    await model.generate({ ...CALL, thinking: level === 'off' ? 'none' : level }, { signal: signal() });
    expect(dialect.thinking.of(server.requests[0]?.body)).toEqual(dialect.thinking[level]);
  });

  test.each([
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [401, false],
    [404, false],
  ])('status %i: retryable is %s', async (status, retryable) => {
    const { model } = await modelFor([dialect.error(status, 'it said no')]);
    const failure = describeFailure(await model.generate(CALL, { signal: signal() }).catch((error: unknown) => error));
    expect(failure).toMatchObject({ status, retryable, message: expect.stringContaining('it said no') });
    expect(failure.message).not.toContain('secret-key');
  });

  test('what the provider asks to wait is read', async () => {
    const { model } = await modelFor([{ ...dialect.error(429, 'slow down'), headers: { 'retry-after': '7' } }]);
    const failure = describeFailure(await model.generate(CALL, { signal: signal() }).catch((error: unknown) => error));
    expect(failure.retryAfterMs).toBe(7000);
  });

  test.each([
    ['HTML of a proxy', { raw: '<html>bad gateway</html>' }],
    ['another shape', { json: { hello: 'world' } }],
    ['an empty body', { raw: '' }],
    ['nothing', { raw: 'null' }],
    ['no choice', { json: { id: 'x', created: 1, model: 'm', choices: [], candidates: [], content: [] } }],
  ] as [string, FakeAnswer][])('%s instead of an answer is a retryable failure', async (_name, answer) => {
    const { model } = await modelFor([answer]);
    const failure = describeFailure(await model.generate(CALL, { signal: signal() }).catch((error: unknown) => error));
    expect(failure.retryable).toBe(true);
  });

  test('a stream that breaks off is a retryable failure', async () => {
    const whole = dialect.stream(['a', 'b', 'c', 'd']) as { events: unknown[]; named?: boolean };
    const { model } = await modelFor([{ ...whole, events: whole.events.slice(0, 3), cut: true }]);
    const failure = describeFailure(
      await model.generate(CALL, { signal: signal(), onText: () => {} }).catch((error: unknown) => error),
    );
    expect(failure.retryable).toBe(true);
  });

  const EVENTS = { 'content-type': 'text/event-stream' };
  test.each([
    ['HTML of a proxy', { raw: '<html>bad gateway</html>' }],
    ['HTML that calls itself a stream', { raw: '<html>bad gateway</html>', headers: EVENTS }],
    ['an empty stream', { raw: '', headers: EVENTS }],
    ['broken JSON', { events: ['{"broken'] }],
    ['another shape', { json: { hello: 'world' } }],
    ['a stream that ends too early without a word', earlyEnd()],
  ] as [string, FakeAnswer][])('%s instead of a stream is a retryable failure', async (_name, answer) => {
    const { model } = await modelFor([answer]);
    const asked = model.generate(CALL, { signal: signal(), onText: () => {} });
    expect(describeFailure(await asked.catch((error: unknown) => error)).retryable).toBe(true);
    await expect(asked).rejects.toThrow();
  });

  function earlyEnd(): FakeAnswer {
    const whole = dialect.stream(['a', 'b', 'c', 'd']) as { events: unknown[] };
    return { ...whole, events: whole.events.slice(0, 3) };
  }

  test('an error in a stream is told and retryable', async () => {
    const { model } = await modelFor([dialect.streamError('no room just now')]);
    const failure = describeFailure(
      await model.generate(CALL, { signal: signal(), onText: () => {} }).catch((error: unknown) => error),
    );
    expect(failure).toMatchObject({ retryable: true, message: expect.stringContaining('no room just now') });
  });

  test('a cancelled call ends', async () => {
    const { model } = await modelFor([{ hang: true }]);
    const abort = new AbortController();
    const pending = model.generate(CALL, { signal: abort.signal });
    abort.abort();
    await expect(pending).rejects.toThrow();
  });

  test('a server that is not there is a retryable failure', async () => {
    const { model, server } = await modelFor([dialect.text('x')]);
    await server.close();
    closing.length = 0;
    const failure = describeFailure(await model.generate(CALL, { signal: signal() }).catch((error: unknown) => error));
    expect(failure).toMatchObject({ retryable: true, status: null });
  });
});

test.each([
  ['no tool call', []],
  ['a call without a name', [{ index: 0, id: '1', type: 'function', function: { name: '', arguments: '{}' } }]],
])('an answer that ends with tool calls and has %s is broken, streamed or not', async (_, tool_calls) => {
  const head = { id: 'x', created: 1, model: 'm' };
  const message = { role: 'assistant', content: 'so', tool_calls };
  const whole = { json: { ...head, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] } };
  const streamed = { events: [{ ...head, choices: [{ index: 0, delta: message, finish_reason: 'tool_calls' }] }] };
  const server = await startFakeModelServer([whole, streamed]);
  closing.push(server.close);
  const options = { type: 'openai_compatible', base_url: server.url, headers: {}, default: true } as const;
  const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'm' });
  for (const onText of [undefined, () => {}]) {
    const asked = model?.generate(CALL, { signal: AbortSignal.timeout(50_000), onText });
    const failure = describeFailure(await asked?.catch((error: unknown) => error));
    expect(failure).toMatchObject({ retryable: true, message: expect.stringContaining('named no tool') });
  }
});

test.each(['openai', 'azure'] as const)(
  '%s is asked to keep nothing, and so for its thoughts in a form to hand back',
  async (type) => {
    const server = await startFakeModelServer([DIALECTS['openai responses']!.text('x')]);
    closing.push(server.close);
    const options = { type, base_url: `${server.url}/v1`, api_key: 'k', headers: {}, default: true };
    const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'gpt-5' });
    await model?.generate({ ...CALL, thinking: 'low' }, { signal: AbortSignal.timeout(50_000) });
    expect(server.requests[0]?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
  },
);

const LONG_PATH = JSON.stringify(['$', ...Array.from({ length: 20_000 }, () => 'a')].join('.'));
test.each([
  ['a short path', '"$.list"', 'data: ', '\r\n\r\n', 'ok'],
  ['a long path', LONG_PATH, 'data: ', '\r\n\r\n', 'paths of more than 10000 characters'],
  [
    'a long path on a line of its own',
    `\rdata:${LONG_PATH}\ndata:`,
    '\u00EF\u00BB\u00BFdata:',
    '\r\r',
    'paths of more than',
  ],
])("Google's parts of calls with %s", async (_, path, prefix, end, said) => {
  const functionCall = { name: 'host__load', willContinue: true, partialArgs: [{ jsonPath: 'PATH', numberValue: 1 }] };
  const event = JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ functionCall }] } }] });
  const last = JSON.stringify({ candidates: [{ content: { parts: [{ functionCall: {} }] }, finishReason: 'STOP' }] });
  const raw = `${prefix}${event.replace('"PATH"', path)}${end}data: ${last}\n\n`;
  const server = await startFakeModelServer([{ raw, headers: { 'content-type': 'text/event-stream' } }]);
  closing.push(server.close);
  const options = { type: 'google', base_url: server.url, api_key: 'k', headers: {}, default: true } as const;
  const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'm' });
  const asked = model?.generate(CALL, { signal: AbortSignal.timeout(50_000), onText: () => {} });
  const outcome = await asked?.then(
    ({ content }) => `ok ${JSON.stringify(content)}`,
    (error: unknown) => `${String(error)} ${String((error as Error).cause)}`,
  );
  expect(outcome).toContain(said);
});

test('other servers of Chat Completions are told nothing of it', async () => {
  const server = await startFakeModelServer([DIALECTS['openai chat']!.text('x')]);
  closing.push(server.close);
  const base = { base_url: `${server.url}/v1`, api_key: 'k', headers: {}, default: true };
  const options = { ...base, type: 'openai', api: 'chat' } as const;
  const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'gpt-5' });
  await model?.generate(CALL, { signal: AbortSignal.timeout(50_000) });
  expect(Object.keys(server.requests[0]?.body)).not.toContain('store');
});
