import type { AddressInfo } from 'node:net';
import { fairServer } from '@signalbox/crds/process/fair-connections';

export interface HealthDeps {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Null when ready, or else what is waited for. */
  notReady(): string | null;
  metrics(): Promise<{ contentType: string; text: string }>;
}

export interface HealthServer {
  url: string;
  close(): Promise<void>;
}

/** Serves `/healthz`, `/readyz` and `/metrics`. */
export async function startHealthServer({ host, port, notReady, metrics }: HealthDeps): Promise<HealthServer> {
  const server = fairServer((request, response) => {
    const answer = (status: number, text: string, contentType = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': contentType }).end(text);
    const path = request.url?.split('?', 1)[0];
    if (path === '/healthz') return answer(200, 'ok\n');
    if (path === '/readyz') {
      const why = notReady();
      return why === null ? answer(200, 'ok\n') : answer(503, `${why}\n`);
    }
    if (path !== '/metrics') return answer(404, 'not found\n');
    metrics().then(
      ({ text, contentType }) => answer(200, text, contentType),
      () => answer(500, 'the metrics cannot be read\n'),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
