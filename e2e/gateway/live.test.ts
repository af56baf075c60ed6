import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { liveProviders } from './live-providers.ts';
import { CHECKS } from './live-run.ts';

const SCRIPT = join(import.meta.dirname, 'live.ts');
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function live(env: Record<string, string>): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT], { env: { PATH: process.env['PATH'], ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}

interface Question {
  model: string;
  stream?: boolean;
  tools?: { function: { name: string } }[];
  messages: { role: string; content: unknown }[];
}

/** A server of Chat Completions that answers the checks as a model would, or wrongly. */
async function startModel(answer: string): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const question = JSON.parse(String(Buffer.concat(chunks))) as Question;
      if (question.model.startsWith('no-such')) return response.writeHead(404).end('{"error":{"message":"no model"}}');
      const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
      const asksTool = question.tools && question.messages.at(-1)?.role !== 'tool';
      const call = {
        index: 0,
        id: 'c1',
        type: 'function',
        function: { name: question.tools?.[0]?.function.name, arguments: '{}' },
      };
      const said = asksTool ? { content: null, tool_calls: [call] } : { content: answer };
      const choice = { index: 0, finish_reason: asksTool ? 'tool_calls' : 'stop' };
      const whole = { id: '1', created: 1, model: question.model, usage };
      if (!question.stream)
        return response.end(
          JSON.stringify({ ...whole, choices: [{ ...choice, message: { role: 'assistant', ...said } }] }),
        );
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ ...whole, choices: [{ ...choice, delta: said }] })}\n\ndata: [DONE]\n\n`);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close(() => {}).closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test('without a key nothing is asked, what would be is said, and that is no failure', async () => {
  const { code, output } = await live({});
  expect(code).toBe(0);
  for (const { what } of CHECKS) expect(output).toContain(what);
  expect(output).toContain('anthropic: set ANTHROPIC_API_KEY');
  expect(output).toContain('azure: set AZURE_OPENAI_API_KEY, AZURE_OPENAI_BASE_URL, AZURE_MODEL');
});

test('a provider that answers well passes every check', async () => {
  const url = await startModel('{"answer": 42}');
  const { code, output } = await live({ OPENAI_COMPATIBLE_BASE_URL: url, OPENAI_COMPATIBLE_MODEL: 'm' });
  expect(output.match(/^ok /gm)).toHaveLength(CHECKS.length);
  expect(output).toContain('left out: anthropic');
  expect(code).toBe(0);
});

test('a provider that answers badly fails, and it is said in what', async () => {
  const url = await startModel('nothing of use');
  const { code, output } = await live({ OPENAI_COMPATIBLE_BASE_URL: url, OPENAI_COMPATIBLE_MODEL: 'm' });
  expect(output).toContain('FAILED openai_compatible: structured output');
  expect(code).toBe(1);
});

test('keys go to the gateway as names of variables', () => {
  const { present } = liveProviders({
    ANTHROPIC_API_KEY: 'secret',
    OPENROUTER_API_KEY: 'secret',
    OPENROUTER_MODEL: 'x/y',
  });
  expect(present.map(({ name, model }) => [name, model])).toEqual([
    ['anthropic', 'claude-haiku-4-5'],
    ['openrouter', 'x/y'],
  ]);
  expect(JSON.stringify(present)).not.toContain('secret');
});
