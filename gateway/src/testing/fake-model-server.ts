import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ModelRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: any;
}
export type FakeAnswer =
  | { status?: number; headers?: Record<string, string>; json: unknown }
  | { events: unknown[]; named?: boolean; cut?: boolean }
  | { hang: true }
  | { raw: string; status?: number };

/** A model provider on loopback that gives the prepared answers in order (the last one again and again) and keeps what it was asked. */
export async function startFakeModelServer(answers: FakeAnswer[]) {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(String(Buffer.concat(chunks)) || 'null') });
      if (!answer || 'hang' in answer) return;
      if ('json' in answer) {
        response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
        response.end(JSON.stringify(answer.json));
      } else if ('raw' in answer) {
        response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
        response.end(answer.raw);
      } else {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of answer.events) {
          if (answer.named) response.write(`event: ${(event as { type: string }).type}\n`);
          response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
        }
        if (answer.cut) response.destroy();
        else response.end();
      }
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
