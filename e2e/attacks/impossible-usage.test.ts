import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';

const TOKEN = 'invoke-token-of-the-test-0123456789';
const scratch = scratchDirectory('impossible-usage-');
let provider: Server;
let gateway: Service;
/** What the provider says that its next answer used. */
let usage: object = {};
let finish = 'stop';

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().once('end', () => {
      const choices = [{ index: 0, finish_reason: finish, message: { role: 'assistant', content: 'hi' } }];
      const answer = { id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  mkdirSync(join(scratch.path, 'agents/worker'), { recursive: true });
  writeFileSync(join(scratch.path, 'agents/worker/agent.yaml'), 'name: worker\nmodel: local/m\n');
  writeFileSync(join(scratch.path, 'agents/worker/soul.md'), 'You work.');
  const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const providers = { local: { type: 'openai_compatible', base_url, default: true } };
  writeFileSync(join(scratch.path, 'gateway.yaml'), JSON.stringify({ server: { port: 0 }, providers }));
  const env = { GATEWAY_ADMIN_TOKEN: 'admin-token-of-the-test-0123456789', GATEWAY_INVOKE_TOKEN: TOKEN };
  gateway = await startService('gateway', join(scratch.path, 'gateway.yaml'), { env });
});
afterAll(async () => {
  await gateway.stop();
  provider.close();
  scratch.remove();
});

interface Answer {
  result?: { usage: unknown };
  error?: { data: { type: string; usage: unknown } };
}

async function run(): Promise<Answer> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/rpc`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  await once(socket, 'open');
  const params = { agent: 'worker', input: 'Go.' };
  const answered = new Promise<Answer>((resolve, reject) => {
    socket.on('close', () => reject(new Error('the connection ended')));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(String(data)) as Answer & { id?: number };
      if (message.id === 1) resolve(message);
    });
  });
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'agent.run', params }));
  return answered.finally(() => socket.close());
}

const countOf = async (direction: string): Promise<number> => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.includes('tokens_total{') && each.includes(`"${direction}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
};

test.each([
  ['a negative count', { prompt_tokens: -1, completion_tokens: 2 }, [0, 2, 0]],
  [
    'a negative count of cached tokens',
    { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: -2 } },
    [5, 2, 0],
  ],
  ['a part of a token', { prompt_tokens: 0.5, completion_tokens: 2 }, [0, 2, 0]],
  ['more than any call uses', { prompt_tokens: 1000000001, completion_tokens: 2 }, [0, 2, 0]],
  ['more than can be added', { prompt_tokens: 1e308, completion_tokens: 2 }, [0, 2, 0]],
])(
  'a provider that says %s ends no gateway, and what it says counts as not said',
  async (_, said, [input, output, cached]) => {
    [usage, finish] = [said, 'stop'];
    const before = await countOf('input');
    expect((await run()).result?.usage).toEqual({
      input_tokens: input,
      output_tokens: output,
      cached_input_tokens: cached,
    });
    await expect.poll(() => countOf('input')).toBe(before + (input ?? 0));
  },
);

test('so does one whose answer cannot be used', async () => {
  [usage, finish] = [{ prompt_tokens: -7, completion_tokens: 2 }, 'tool_calls'];
  expect((await run()).error?.data.usage).toEqual({ input_tokens: 0, output_tokens: 6, cached_input_tokens: 0 });
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});
