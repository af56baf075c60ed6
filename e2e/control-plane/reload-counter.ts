import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that only counts reload requests. */
export interface ReloadCounter {
  url: string;
  seen(): number;
  stop(): Promise<void>;
}

export async function startReloadCounter(): Promise<ReloadCounter> {
  let seen = 0;
  const server = createServer((_request, response) => {
    seen++;
    response.end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/reload`,
    seen: () => seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
