import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A parsed body whose shape the test knows. */
export type JsonBody = ReturnType<typeof JSON.parse>;

export interface ModelRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: JsonBody;
}
export type FakeAnswer =
  | { status?: number; headers?: Record<string, string>; json: unknown }
  | { events: unknown[]; named?: boolean; cut?: boolean }
  | { hang: true }
  | { after: Promise<unknown>; then: FakeAnswer }
  | { raw: string; status?: number; headers?: Record<string, string> };

/** A model provider on loopback that gives the prepared answers in order (the last one again and again) and keeps what it was asked. */
export async function startFakeModelServer(answers: FakeAnswer[], onRequest = () => {}) {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      const { url = '', headers } = request;
      requests.push({ path: url, headers, body: JSON.parse(String(Buffer.concat(chunks))) });
      onRequest();
      if (answer) give(answer, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function give(answer: FakeAnswer, response: ServerResponse): void {
  if ('hang' in answer) return;
  if ('after' in answer) return void answer.after.then(() => give(answer.then, response));
  if ('events' in answer) return stream(answer, response);
  const headers = 'headers' in answer ? answer.headers : {};
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...headers });
  response.end('raw' in answer ? answer.raw : JSON.stringify(answer.json));
}

function stream(answer: Extract<FakeAnswer, { events: unknown[] }>, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of answer.events) {
    if (answer.named) response.write(`event: ${(event as { type: string }).type}\n`);
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  if (answer.cut) response.destroy();
  else response.end();
}
