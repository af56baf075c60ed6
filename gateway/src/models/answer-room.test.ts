import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { describeFailure } from './failure.ts';
import type { ChatModel, ModelCall } from './model.ts';
import { createModels } from './models.ts';
import { providerEntries } from './provider-entries.ts';

const MIB = 1024 * 1024;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Give = (response: ServerResponse, asked: number) => void;

async function modelOf(give: Give, type: 'openai_compatible' | 'google' = 'openai_compatible'): Promise<ChatModel> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    request.resume().on('end', () => give(response, asked));
  }).listen(0, '127.0.0.1');
  closing.push(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { type, base_url, api_key: 'k', headers: {}, default: true };
  const model = await createModels(providerEntries({ it: options })).open({ provider: 'it', model: 'm' });
  if (!model) throw new Error('not configured');
  return model;
}

const CALL: ModelCall = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
  answerSchema: null,
};

/** The text of the answer, or why there is none. */
const ask = (model: ChatModel, options: { onText?: () => void } = {}): Promise<string> =>
  model.generate(CALL, { signal: AbortSignal.timeout(50_000), ...options }).then(
    ({ content }) => content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    (error: unknown) => {
      const { message, retryable } = describeFailure(error);
      return `${retryable ? 'again' : 'never'}: ${message}`;
    },
  );

const text = (mib: number) => 'x'.repeat(mib * MIB);
const [HEAD, TAIL] = JSON.stringify({
  id: 'x',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'TEXT' }, finish_reason: 'stop' }],
}).split('TEXT') as [string, string];
const delta = (content: string) => {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices })}\n\n`;
};

const WHOLE = 'never: the provider sent more than 8388608 bytes for one answer; ask for a shorter one';
const NO_ROOM =
  'again: the answers of all models have no room in memory, and this one takes most; let fewer runs go on at once';

test.each(['application/json', 'text/event-stream'])(
  'an answer that is read as a whole has at most 8 MiB, also as %s',
  async (type) => {
    const model = await modelOf((response) =>
      response.writeHead(200, { 'content-type': type }).end(HEAD + text(9) + TAIL),
    );
    expect(await ask(model)).toBe(WHOLE);
  },
);

test('so has an answer that failed, streamed or not', async () => {
  const model = await modelOf((response) => response.writeHead(400).end(text(9)));
  expect(await ask(model)).toBe(WHOLE);
  expect(await ask(model, { onText: () => {} })).toBe(WHOLE);
});

test('so have all answers together in which one of Google’s models goes on', async () => {
  const candidate = (finishReason: string) => ({
    candidates: [{ finishReason, continuationToken: 't', content: { role: 'model', parts: [{ text: text(3) }] } }],
  });
  const model = await modelOf(
    (response, asked) => response.end(JSON.stringify(candidate(asked < 3 ? 'CONTINUATION' : 'STOP'))),
    'google',
  );
  expect(await ask(model)).toBe(WHOLE);
});

test.each([
  ['that are read as a whole', {}, (response: ServerResponse) => response.write(HEAD + text(7))],
  [
    'that are streamed, of events that do not end',
    { onText: () => {} },
    (response: ServerResponse) => response.write(`data: ${text(3)}`),
  ],
  [
    'that are streamed, of the text that they have so far',
    { onText: () => {} },
    (response: ServerResponse) => response.write(delta(text(2))),
  ],
  [
    'that are streamed, of all that came',
    { onText: () => {} },
    (response: ServerResponse) => {
      for (let event = 0; event < 12; event++) response.write(`data: {"unknown":"${text(2)}"}\n\n`);
    },
  ],
])('of answers %s the largest fail where all have no room, and others do not', async (_, options, begin) => {
  const large: ServerResponse[] = [];
  const hostile = await modelOf((response) => {
    large.push(response);
    begin(response);
  });
  let answer = () => {};
  const begun = Promise.withResolvers<void>();
  const fair = await modelOf((response) => {
    response.write(HEAD, () => begun.resolve());
    answer = () => response.end(`Fine.${TAIL}`);
  });
  const small = ask(fair);
  await begun.promise;
  const all = Array.from({ length: 20 }, () => ask(hostile, options));
  expect(await Promise.race(all)).toBe(NO_ROOM);
  answer();
  expect(await small).toBe('Fine.');
  for (const response of large) response.destroy();
  const ends = await Promise.all(all);
  expect(ends.filter((end) => end !== NO_ROOM).length).toBeGreaterThan(2);
});

test('an answer that was read takes no room any more', async () => {
  const model = await modelOf((response) => response.end(HEAD + text(3) + TAIL));
  for (let asked = 0; asked < 12; asked++) expect(await ask(model)).toHaveLength(3 * MIB);
});
