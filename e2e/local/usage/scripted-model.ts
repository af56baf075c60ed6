import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the model answers one request. */
export type Kind =
  /** Sure, unsure, or not as the schema asks. */
  | 'sure'
  | 'unsure'
  | 'invalid'
  /** Calls a tool that is not there, or says that it calls one and names none. */
  | 'tool'
  | 'broken'
  /** Without an answer: nothing is used. `slow` never comes. */
  | 'busy'
  | 'refused'
  | 'slow';
export interface Reply {
  kind: Kind;
  input: number;
  cached: number;
  output: number;
}

/** What one request was told that it used. */
export interface HandedOut extends Omit<Reply, 'kind'> {
  /** The run and step of the prompt: `c1/look`. */
  of: string;
  model: string;
}

/** A model provider on loopback that answers by script and writes down every token that it hands out. */
export async function startScriptedModel() {
  const scripts = new Map<string, Reply[]>();
  const handedOut: HandedOut[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = String(Buffer.concat(chunks));
      const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean };
      const of = /\[(c\d+\/[\w/]+)\]/.exec(text)?.[1] ?? 'unknown';
      const { kind, ...used } = scripts.get(`${of} ${roleOf(model)}`)?.shift() ?? DEFAULT;
      if (kind === 'busy') return void response.writeHead(429, { 'retry-after-ms': '1' }).end('{}');
      if (kind === 'slow') return;
      if (kind === 'refused') return void response.writeHead(400).end('{}');
      handedOut.push({ of, model, ...used });
      answer(response, { kind, model, used, stream: stream === true });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    handedOut,
    /** The answers of a role to a step, in order; further ones are sure. */
    script: (of: string, role: Role, replies: readonly Reply[]) => scripts.set(`${of} ${role}`, [...replies]),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type Role = 'agent' | 'verifier' | 'grounding';
/** Verifier and judge ask models of their own. */
export const roleOf = (model: string): Role =>
  model === 'm-review' ? 'verifier' : model === 'm-judge' ? 'grounding' : 'agent';

const DEFAULT: Reply = { kind: 'sure', input: 11, cached: 5, output: 3 };
const TEXTS = {
  sure: '{"confidence": 0.95, "summary": "sure", "score": 0.9}',
  unsure: '{"confidence": 0.3, "summary": "unsure", "score": 0.2}',
  invalid: 'I would rather not say.',
  tool: '',
  broken: '',
};
const TOOL = { id: 'call_1', type: 'function', function: { name: 'nobody__knows', arguments: '{}' } };

interface Given {
  kind: keyof typeof TEXTS;
  model: string;
  used: Omit<Reply, 'kind'>;
  stream: boolean;
}

function answer(response: ServerResponse, { kind, model, used, stream }: Given): void {
  const usage = {
    prompt_tokens: used.input,
    completion_tokens: used.output,
    total_tokens: used.input + used.output,
    prompt_tokens_details: { cached_tokens: used.cached },
  };
  const said = { role: 'assistant', content: TEXTS[kind], ...(kind === 'tool' && { tool_calls: [TOOL] }) };
  const finish_reason = kind === 'tool' || kind === 'broken' ? 'tool_calls' : 'stop';
  const head = { id: 'c1', created: 1, model };
  if (!stream) {
    const choices = [{ index: 0, message: said, finish_reason }];
    const body = { ...head, object: 'chat.completion', choices, usage };
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
  const delta = kind === 'tool' ? { ...said, tool_calls: [{ index: 0, ...TOOL }] } : said;
  const chunks = [
    { choices: [{ index: 0, delta, finish_reason: null }], usage: null },
    { choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ].map((chunk) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${chunks.join('')}data: [DONE]\n\n`);
}
