import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model provider that answers only when the test releases it. */
export interface HeldModel {
  /** Base address of its Chat Completions. */
  url: string;
  /** How many requests it has had. */
  asked(): number;
  /** Answers all of them, and from now on every one at once. */
  release(): void;
  stop(): Promise<void>;
}

const ANSWER = JSON.stringify({
  id: '1',
  created: 1,
  model: 'held',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: '{"confidence": 1, "summary": "done"}' },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

export async function startHeldModel(): Promise<HeldModel> {
  const held: ServerResponse[] = [];
  let asked = 0;
  let released = false;
  const answer = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
  const server = createServer((request, response) => {
    asked += 1;
    request.resume();
    if (released) answer(response);
    else held.push(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: () => asked,
    release: () => {
      released = true;
      for (const response of held.splice(0)) answer(response);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
