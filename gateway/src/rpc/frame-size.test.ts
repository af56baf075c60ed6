import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DIALECTS } from '../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';

const chat = DIALECTS['openai_compatible'] as (typeof DIALECTS)[string];
const TOOL_SERVER = join(import.meta.dirname, '../testing/misbehaving-server.ts');
const FRAME = 1024 * 1024;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A client that keeps the size of every frame, of a gateway whose model gives these answers. */
async function clientOf(answers: FakeAnswer[], agent: Record<string, unknown> = {}) {
  const models = await startFakeModelServer(answers);
  const gateway = await startTestGateway({
    agents: { worker: { config: { model: 'own/m-1', tools: ['host'], ...agent } } },
    config: {
      providers: { own: { type: 'openai_compatible', base_url: `${models.url}/v1`, default: true } },
      mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } },
    },
  });
  closing.push(async () => {
    await gateway.close();
    await models.close();
  });
  const client = await gateway.rpc();
  const sizes: number[] = [];
  client.socket.on('message', (data: Buffer) => sizes.push(data.length));
  const run = (params: object = {}) => client.call('agent.run', { agent: 'worker', input: 'Go.', ...params });
  return { client, run, models, gateway, largest: () => Math.max(...sizes) };
}

const LONG = '\u0001 said at length '.repeat(100_000);

test('a long piece of text comes in several events that make up the whole', async () => {
  const { client, run, largest } = await clientOf([chat.stream([LONG])]);
  const { error } = await run({ trace: { stream: true } });
  expect(error).toMatchObject({ code: -32015, message: expect.stringContaining('does not fit a frame') });
  const texts = client.events().flatMap(({ event, text }) => (event === 'text' ? [String(text)] : []));
  expect(texts.join('') === LONG).toBe(true);
  expect(largest()).toBeLessThanOrEqual(FRAME);
});

test('a tool call with a large input reaches its tool, and is told without it', async () => {
  const { client, run, models, largest } = await clientOf([
    chat.toolCall({ name: 'host__ok', input: { long: LONG } }),
    chat.text('done'),
  ]);
  expect((await run()).result).toMatchObject({ text: 'done', tool_calls: 1 });
  expect(JSON.stringify(models.requests[1]?.body.messages.at(-1))).toContain('said at length');
  expect(await client.event('tool_call')).toMatchObject({ tool: 'ok', input: expect.stringMatching(/^\[cut: \d+ /) });
  expect(largest()).toBeLessThanOrEqual(FRAME);
});

test('a large tool result is cut to what a frame holds, however much of it the caller wants', async () => {
  const { client, run, largest } = await clientOf([chat.toolCall({ name: 'host__big', input: {} }), chat.text('done')]);
  expect((await run({ trace: { tool_result_max_chars: 10_000_000 } })).result).toMatchObject({ text: 'done' });
  expect(String((await client.event('tool_result'))['result']).length).toBeGreaterThan(90_000);
  expect(largest()).toBeLessThanOrEqual(FRAME);
});

test('nobody is asked about a call too large to be shown: it is refused', async () => {
  const { client, run, models, largest } = await clientOf(
    [chat.toolCall({ name: 'host__ok', input: { long: LONG } }), chat.text('went on')],
    { require_approval: ['host'] },
  );
  expect((await run()).result).toMatchObject({ text: 'went on' });
  expect(models.requests[1]?.body.messages.at(-1).content).toContain('too large to be shown');
  expect(client.messages.some(({ method }) => method === 'tool.request_approval')).toBe(false);
  expect(largest()).toBeLessThanOrEqual(FRAME);
});

/** As many values as one answer may have; an event adds some. */
const FULL = `{"list":[${'{},'.repeat(24_998)}1]}`;
const callOf = (id: string, args: string): FakeAnswer => {
  const call = { id, type: 'function', function: { name: 'host__ok', arguments: args } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return {
    json: { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  };
};

test('a call with an id without end is told and asked about by the beginning of it, and answered by all of it', async () => {
  const id = 'x'.repeat(1_100_000);
  const answers = [callOf(id, '{}'), chat.text('done')];
  const { client, run, models, largest } = await clientOf(answers, { require_approval: ['host'] });
  client.onRequest = ({ params }) => ({ approved: true, input_sha256: params?.['input_sha256'] });
  expect((await run()).result).toMatchObject({ text: 'done', tool_calls: 1 });
  for (const event of ['approval_requested', 'tool_call', 'tool_result'])
    expect(await client.event(event)).toMatchObject({ call_id: id.slice(0, 200) });
  expect(models.requests[1]?.body.messages.at(-1).tool_call_id === id).toBe(true);
  expect(largest()).toBeLessThanOrEqual(FRAME);
});

test('a tool call with as many values as a frame holds is told without them', async () => {
  const { client, run, gateway } = await clientOf([callOf('call_1', FULL), chat.text('done')]);
  expect((await run()).result).toMatchObject({ text: 'done', tool_calls: 1 });
  expect(await client.event('tool_call')).toMatchObject({ input: expect.stringMatching(/^\[cut: \d+ /) });
  expect(gateway.errors).toEqual([]);
});
