import { afterEach, expect, test } from 'vitest';
import { startFakeModelServer } from '../../testing/fake-model-server.ts';
import type { ModelCall } from '../model.ts';
import { createModels } from '../models.ts';
import { providerEntries } from '../provider-entries.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const CALL: ModelCall = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
  answerSchema: null,
};

type Kind = 'openai_compatible' | 'openrouter' | 'ollama' | 'openai' | 'azure' | 'anthropic' | 'google';

/** What comes of a call whose every answer is this stream, and how many requests it took. */
async function ask(type: Kind, events: unknown[], more = {}) {
  const server = await startFakeModelServer([{ events }]);
  closing.push(server.close);
  const options = { type, base_url: server.url, api_key: 'k', headers: {}, default: true, ...more };
  const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'm' });
  const outcome = await model?.generate(CALL, { signal: AbortSignal.timeout(50_000), onText: () => {} }).then(
    ({ content }) => `ok ${content.length}`,
    (error: unknown) => `${String(error)} ${String((error as Error).cause)}`,
  );
  return { outcome, requests: server.requests.length };
}

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const chat = (tool_calls: unknown[], finish_reason: string | null = null) => ({
  id: 'x',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { tool_calls }, finish_reason }],
});
const call = (index: number) => ({ index, id: `c${index}`, function: { name: 'look', arguments: '{}' } });
const piece = { index: 0, function: { arguments: '' } };
const CHAT = [
  ['openai_compatible', {}],
  ['openrouter', {}],
  ['ollama', {}],
  ['openai', { api: 'chat' }],
] as const;

test.each(CHAT)('%s: an event has so many pieces of tool calls, however it is written', async (type, more) => {
  const ok = await ask(type, [chat(many(100, call)), chat(many(256, () => piece)), chat([], 'tool_calls')], more);
  expect(ok.outcome).toBe('ok 100');
  const event = JSON.stringify(chat(many(257, () => piece)));
  for (const written of [event, event.replace('tool_calls', '\\u0074ool_calls')]) {
    const { outcome } = await ask(type, [chat([call(0)]), written], more);
    expect(outcome).toContain('more than 256 pieces of tool calls in one event');
  }
});

test.each(CHAT)('%s: so has an answer', async (type, more) => {
  const event = JSON.stringify(chat(many(256, () => piece)));
  const { outcome } = await ask(type, [chat([call(0)]), ...many(977, () => event)], more);
  expect(outcome).toContain('more than 250000 pieces of tool calls');
});

// The SDK of OpenAI takes no call without a name.
test.each(CHAT.slice(0, 3))('%s: so have the arguments of a call before its name', async (type, more) => {
  const early = (chars: number) =>
    chat([{ index: 0, id: 'c0', function: { arguments: `{"a":"${'x'.repeat(chars)}` } }]);
  const name = chat([{ index: 0, id: 'c0', function: { name: 'look', arguments: 'x"}' } }]);
  const rest = many(20, () => chat([{ index: 1, id: 'c1', function: { name: 'look', arguments: ' '.repeat(1000) } }]));
  const ok = await ask(type, [early(9_000), name, ...rest, chat([], 'tool_calls')], more);
  expect(ok.outcome).toMatch(/^ok /);
  const { outcome } = await ask(type, [early(5_000), early(5_000), name], more);
  expect(outcome).toContain('more than 10000 characters of tool calls before their names');
});

const annotation = { type: 'url_citation', start_index: 0, end_index: 1, url: 'http://a', title: 'a' };
const NOTES = [
  { type: 'response.output_text.annotation.added', annotation },
  { type: 'response.reasoning_summary_part.done', item_id: 'r', summary_index: 1 },
];
test.each(NOTES)('OpenAI’s Responses API: an answer has so many events of the type $type', async (event) => {
  for (const type of ['openai', 'azure'] as const) {
    const { outcome } = await ask(
      type,
      many(1001, () => event),
    );
    expect(outcome).toContain('more than 1000 events of one kind');
    const fewer = await ask(
      type,
      many(1000, () => event),
    );
    expect(fewer.outcome).toContain('ended before the answer did');
  }
});

const delta = (usage: object) => ({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 1, ...usage },
});
const keys = (count: number) => Object.fromEntries(many(count, (index) => [`k${index}`, 1]));
const iterations = (count: number) => many(count, () => ({ type: 'message', input_tokens: 1, output_tokens: 1 }));
test.each([
  ['a few', [delta({ ...keys(98), iterations: iterations(100) })], 'ended before the answer did'],
  ['many', many(101, () => delta({})), 'more about usage than there is to say'],
  ['long', [delta(keys(100))], 'more about usage than there is to say'],
  ['deep', [delta({ iterations: iterations(101) })], 'more about usage than there is to say'],
])('Anthropic: %s events about usage', async (_, events, said) => {
  expect((await ask('anthropic', events)).outcome).toContain(said);
});

const goesOn = (continuationToken?: string) => ({
  candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'CONTINUATION', continuationToken }],
  usageMetadata: { promptTokensDetails: [] },
});
test('Google: an answer goes on in so many others, streamed or not', async () => {
  const said = 'goes on after 4 requests';
  const streamed = await ask('google', [goesOn('next')]);
  expect(streamed).toEqual({ outcome: expect.stringContaining(said), requests: 4 });
  expect(
    (
      await ask(
        'google',
        many(5, () => goesOn()),
      )
    ).outcome,
  ).toContain(said);

  const server = await startFakeModelServer([{ json: goesOn('next') }]);
  closing.push(server.close);
  const options = { type: 'google', base_url: server.url, api_key: 'k', headers: {}, default: true } as const;
  const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'm' });
  await expect(model?.generate(CALL, { signal: AbortSignal.timeout(50_000) })).rejects.toThrow(said);
  expect(server.requests).toHaveLength(4);
});
