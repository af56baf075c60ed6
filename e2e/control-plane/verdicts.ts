import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy before an api-server that adds readiness verdicts to the answer of /definitions. */
export interface Verdicts {
  url: string;
  /** By definition name; other definitions are passed on unchanged. */
  of: Map<string, string>;
  stop(): Promise<void>;
}

export async function startVerdicts(apiServerUrl: string): Promise<Verdicts> {
  const of = new Map<string, string>();
  const answer = async (path: string, authorization: string | undefined) => {
    const response = await fetch(`${apiServerUrl}${path}`, { headers: authorization ? { authorization } : {} });
    const body = (await response.json()) as { definitions?: { name: string; verdict: string | null }[] };
    for (const definition of body.definitions ?? []) definition.verdict = of.get(definition.name) ?? definition.verdict;
    return { status: response.status, body };
  };
  const server = createServer((request, response) => {
    answer(request.url ?? '/', request.headers.authorization).then(
      ({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => response.writeHead(502).end('{}'),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    of,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
