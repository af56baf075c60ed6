import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { WebSocket } from 'ws';
import { call } from '../support/call.ts';
import { ROOT, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import type { LiveProvider } from './live-providers.ts';

const TOKENS = { GATEWAY_ADMIN_TOKEN: 'live-admin-0000000000000', GATEWAY_INVOKE_TOKEN: 'live-invoke-000000000000' };
const TOOL_SERVER = join(ROOT, 'gateway', 'src', 'testing', 'misbehaving-server.ts');
const MAX_TOKENS = 2000;

interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
}
interface Answer {
  result?: { text: string; output: unknown; usage: Usage | null; tool_calls: number; answered_by: string | null };
  error?: { message: string; data?: { type: string; retryable: boolean } };
  /** Of the events. */
  streamed: string;
}

/** The question to every provider, and the problem with its answer, or null. */
interface Check {
  what: string;
  agent: 'plain' | 'tool';
  params: Record<string, unknown>;
  problem: (answer: Answer) => string | null;
}

const answered = ({ result, error }: Answer): string | null =>
  result ? null : `failed: ${error?.data?.type}: ${error?.message}`;
const unless = (holds: boolean, problem: string): string | null => (holds ? null : problem);

const hasUsage = ({ result }: Answer): boolean =>
  (result?.usage?.input_tokens ?? 0) > 0 && (result?.usage?.output_tokens ?? 0) > 0;

/** Each is one short run of an agent. */
export const CHECKS: readonly Check[] = [
  {
    what: 'text with usage',
    agent: 'plain',
    params: { input: 'Answer with the one word: pong' },
    problem: (answer) =>
      answered(answer) ?? unless(answer.result?.text !== '', 'no text') ?? unless(hasUsage(answer), 'no usage'),
  },
  {
    what: 'streamed text',
    agent: 'plain',
    params: { input: 'Count from one to ten in words.', trace: { stream: true } },
    problem: (answer) =>
      answered(answer) ??
      unless(answer.streamed === answer.result?.text, 'the streamed pieces are not the answer') ??
      unless(hasUsage(answer), 'no usage'),
  },
  {
    what: 'tool call',
    agent: 'tool',
    params: { input: 'Call your tool once with {"word": "signal"}, then say what it got.' },
    problem: (answer) =>
      answered(answer) ?? unless((answer.result?.tool_calls ?? 0) > 0, 'the model did not call its tool'),
  },
  {
    what: 'structured output',
    agent: 'plain',
    params: {
      input: 'What is six times seven?',
      output_schema: { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
    },
    problem: (answer) =>
      answered(answer) ??
      unless(isDeepStrictEqual(answer.result?.output, { answer: 42 }), `got ${JSON.stringify(answer.result?.output)}`),
  },
  {
    what: 'a model that does not exist',
    agent: 'plain',
    params: { input: 'x', model: 'no-such-model-0' },
    problem: ({ result, error }) =>
      unless(result === undefined && error?.data?.type === 'provider_error', 'was not refused as provider_error') ??
      unless(error?.data?.retryable === false, 'was called worth another try'),
  },
];

export interface CheckResult {
  provider: string;
  what: string;
  problem: string | null;
  seconds: number;
  usage: Usage | null;
}

/** Starts a gateway with these providers and runs every check of each, one after the other. */
export async function checkLive(
  directory: string,
  providers: readonly LiveProvider[],
  onResult: (result: CheckResult) => void,
): Promise<void> {
  const gateway = await startService('gateway', writeConfig(directory, providers), { env: TOKENS });
  try {
    const healthy = async () => (await call<{ status: string }>(`${gateway.url}/health`)).body.status === 'ok';
    await waitFor(healthy, { what: 'the tool server to run', timeoutMs: 60_000 });
    for (const provider of providers)
      for (const check of CHECKS) {
        const began = performance.now();
        const answer = await run(gateway.url, provider, check);
        const seconds = (performance.now() - began) / 1000;
        const usage = answer.result?.usage ?? null;
        onResult({ provider: provider.name, what: check.what, problem: check.problem(answer), seconds, usage });
      }
  } finally {
    await gateway.stop();
  }
}

function writeConfig(directory: string, providers: readonly LiveProvider[]): string {
  for (const { name, model } of providers)
    for (const [agent, extra] of [
      ['plain', {}],
      ['tool', { tools: ['host/ok'] }],
    ] as const) {
      const folder = join(directory, 'agents', `${name}-${agent}`);
      mkdirSync(folder, { recursive: true });
      const config = { name: `${name}-${agent}`, model: `${name}/${model}`, max_tokens: MAX_TOKENS, ...extra };
      writeFileSync(join(folder, 'agent.yaml'), JSON.stringify(config));
      writeFileSync(join(folder, 'soul.md'), 'You do what you are asked, in as few words as possible.');
    }
  const config = {
    server: { port: 0 },
    providers: Object.fromEntries(providers.map(({ name, config }) => [name, config])),
    mcp_servers: { host: { command: process.execPath, args: [TOOL_SERVER] } },
  };
  const path = join(directory, 'gateway.yaml');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function run(url: string, { name }: LiveProvider, { agent, params }: Check): Promise<Answer> {
  const headers = { authorization: `Bearer ${TOKENS.GATEWAY_INVOKE_TOKEN}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, { headers });
  let streamed = '';
  try {
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return await new Promise((resolve, reject) => {
      socket.once('close', () => reject(new Error('the gateway closed the connection')));
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Answer & { id?: number; params?: { event: string; text?: string } };
        if (message.params?.event === 'text') streamed += message.params.text ?? '';
        if (message.id === 1) resolve({ ...message, streamed });
      });
      const model = 'model' in params ? { model: `${name}/${String(params['model'])}` } : {};
      const asked = { agent: `${name}-${agent}`, timeout_ms: 120_000, ...params, ...model };
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'agent.run', params: asked }));
    });
  } finally {
    socket.removeAllListeners('close');
    socket.terminate();
  }
}
