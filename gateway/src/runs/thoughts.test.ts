import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DIALECTS, type Dialect } from '../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';

const TOOL_SERVER = join(import.meta.dirname, '../testing/misbehaving-server.ts');
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A thought and then a call of the tool, with what the provider wants to see again: `OWN` or a text around it. */
const THOUGHTFUL: Record<string, FakeAnswer> = {
  anthropic: {
    json: {
      type: 'message',
      id: 'm',
      role: 'assistant',
      model: 'm-dated',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'OWN' },
        { type: 'tool_use', id: 'call_1', name: 'host__ok', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  'openai responses': {
    json: {
      id: 'r',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm-dated',
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'OWN' },
        { type: 'function_call', id: 'f', call_id: 'call_1', name: 'host__ok', arguments: '{}', status: 'completed' },
      ],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 2,
      },
    },
  },
  google: {
    json: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { functionCall: { name: 'host__ok', args: {} }, thoughtSignature: 'OWN' },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  },
};

describe.each(Object.entries(THOUGHTFUL))('what a model of %s thought', (name, thoughtful) => {
  const dialect = DIALECTS[name] as Dialect;

  /** The requests to two models of the dialect, the second of which is asked where the first refuses. */
  async function askedOf(first: FakeAnswer[]) {
    const servers = [await startFakeModelServer(first), await startFakeModelServer([dialect.text('done')])];
    opened.push(...servers.map(({ close }) => close));
    const [one, two] = servers.map(({ url }) => ({
      type: dialect.type,
      base_url: url + dialect.basePath,
      api_key: 'k',
    }));
    const gateway = await startTestGateway({
      agents: { a: { config: { model: 'one/m-1', model_fallbacks: ['two/m-1'], tools: ['host'] } } },
      config: {
        providers: { one, two },
        mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } },
      },
    });
    opened.push(gateway.close);
    const { result } = await (await gateway.rpc()).call('agent.run', { agent: 'a', input: 'Go.' });
    expect(result).toMatchObject({ text: 'done', tool_calls: 1 });
    return servers.map(({ requests }) => requests.map(({ body }) => JSON.stringify(body)));
  }

  test('is told to it again with the tool’s result', async () => {
    const [own] = await askedOf([thoughtful, dialect.text('done')]);
    expect(own?.[1]).toContain('OWN');
  });

  test('is not told to another one, which could not read it and would refuse', async () => {
    const [, other] = await askedOf([thoughtful, dialect.error(400, 'not today')]);
    expect(other?.[0]).toContain('host__ok');
    expect(other?.[0]).toContain('got');
    expect(other?.[0]).not.toContain('OWN');
    expect(other?.[0]).not.toContain('"hm"');
  });
});
