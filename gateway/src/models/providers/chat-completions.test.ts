import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestBody, textAnswer } from './chat-completions.ts';

const sdkOf = (provider: string, model: string) =>
  new OpenAICompatibleChatLanguageModel(model, { provider: `${provider}.chat`, url: () => '' });

const text = fc.string({ maxLength: 20 });
const json = fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(text, fc.integer(), fc.boolean()));
const signature = fc.option(text, { nil: undefined }).map((value) => value && { mine: { thoughtSignature: value } });
const said = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('reasoning' as const), text }),
  fc.record({
    type: fc.constant('tool-call' as const),
    toolCallId: text,
    toolName: text,
    input: json,
    providerOptions: signature,
  }),
);
const result = fc.record({
  type: fc.constant('tool-result' as const),
  toolCallId: text,
  toolName: text,
  output: fc.record({ type: fc.constantFrom('text' as const, 'error-text' as const), value: text }),
});
const message = fc.oneof(
  fc.record({ role: fc.constant('system' as const), content: text }),
  fc.record({
    role: fc.constant('user' as const),
    content: fc.array(fc.record({ type: fc.constant('text' as const), text }), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ role: fc.constant('assistant' as const), content: fc.array(said, { minLength: 1, maxLength: 4 }) }),
  fc.record({ role: fc.constant('tool' as const), content: fc.array(result, { minLength: 1, maxLength: 3 }) }),
);
const tool = fc.record({
  type: fc.constant('function' as const),
  name: text,
  description: text,
  inputSchema: fc.constant({ type: 'object' as const }),
});
/** Every option that a run can set. */
const options = fc.record(
  {
    prompt: fc.array(message, { minLength: 1, maxLength: 5 }) as fc.Arbitrary<LanguageModelV4Prompt>,
    maxOutputTokens: fc.integer({ min: 1, max: 1_000_000 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    reasoning: fc.constantFrom('none' as const, 'minimal' as const, 'high' as const, 'xhigh' as const),
    tools: fc.array(tool, { maxLength: 3 }),
    toolChoice: fc.constant({ type: 'auto' as const }),
  },
  { requiredKeys: ['prompt'] },
) as fc.Arbitrary<LanguageModelV4CallOptions>;

test('what is asked is what the SDK would ask', async () => {
  const property = fc.asyncProperty(options, fc.constantFrom('mine', 'my-llm'), async (given, provider) => {
    const { body } = await sdkOf(provider, 'small').prepareRequest(given);
    const own = requestBody({ provider, model: 'small' }, given);
    expect(JSON.parse(JSON.stringify(own))).toEqual(JSON.parse(JSON.stringify(body)));
  });
  await fc.assert(property, { numRuns: 500 });
});

const count = fc.option(fc.nat(100_000));
const usage = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.option(fc.record({ cached_tokens: count })),
    completion_tokens_details: fc.option(fc.record({ reasoning_tokens: count })),
  },
  { requiredKeys: [] },
);
const answer = (fields: object, finish: string, used: object | null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'small-2026',
  choices: [{ index: 0, message: { role: 'assistant', ...fields }, finish_reason: finish }],
  ...(used ? { usage: used } : {}),
});

describe('an answer that is one text', () => {
  test('is read as the SDK reads it', async () => {
    const finish = fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls', 'odd');
    const content = fc.string({ minLength: 1 });
    const property = fc.asyncProperty(content, finish, usage, async (said, reason, used) => {
      const body = answer({ content: said, refusal: null, tool_calls: null }, reason, used);
      const expected = await sdkOf('mine', 'small').convertResponse({ body });
      const read = textAnswer(body);
      expect(read?.content).toEqual(expected.content);
      expect(read?.finishReason).toEqual(expected.finishReason);
      expect(read?.usage.inputTokens).toEqual(expected.usage.inputTokens);
      expect(read?.usage.outputTokens).toEqual(expected.usage.outputTokens);
      expect(read?.response?.modelId).toBe(expected.response?.modelId);
    });
    await fc.assert(property, { numRuns: 500 });
  });
});

test.each([
  ['tool calls', { content: 'so', tool_calls: [{ id: '1', function: { name: 'x', arguments: '{}' } }] }],
  ['thoughts', { content: 'so', reasoning_content: 'hm' }],
  ['thoughts under their other name', { content: 'so', reasoning: 'hm' }],
  ['a refusal', { content: 'so', refusal: 'no' }],
  ['parts', { content: [{ type: 'text', text: 'so' }] }],
  ['no text', { content: '' }],
  ['nothing', { content: null }],
  ['another role', { content: 'so', role: 'user' }],
])('an answer with %s is left to the SDK', (_, fields) => {
  expect(textAnswer(answer(fields, 'stop', {}))).toBeNull();
});

test.each([[null], ['text'], [{}], [{ choices: [] }], [answer({ content: 'so' }, 'stop', null)]])(
  'what is no whole answer is left to the SDK: %j',
  (body) => {
    expect(textAnswer(body)).toBeNull();
  },
);
