import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A Chat Completions server with a prepared answer, so that the cost of a call is the cost of what precedes it. */
const ANSWER = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'instant-2026-01-01',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'The deploy of 09:14 doubled the error rate; roll it back.' },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 412,
      completion_tokens: 17,
      total_tokens: 429,
      prompt_tokens_details: { cached_tokens: 384 },
    },
  }),
);
const HEAD = { 'content-type': 'application/json', 'content-length': ANSWER.length };

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, HEAD).end(ANSWER));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/v1` })}\n`);
});
