import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Definition {
  kind: 'Pipeline' | 'LibraryStep';
  name: string;
  hash: string;
  verdict?: string;
}

/** As much of an api-server as the manager asks. */
export interface FakeDefinitions {
  url: string;
  /** What it has loaded, and what it could not load. */
  definitions: Definition[];
  errors: { kind: string; name: string; msg: string }[];
  /** Breaks every request off. */
  down: boolean;
  stop(): Promise<void>;
}

export async function startFakeDefinitions(): Promise<FakeDefinitions> {
  const server = createServer((request, response) => {
    if (service.down) return void request.socket.destroy();
    const { definitions, errors } = service;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ definitions, errors }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const service: FakeDefinitions = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    definitions: [],
    errors: [],
    down: false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return service;
}
