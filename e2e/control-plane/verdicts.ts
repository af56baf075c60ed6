import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy before an api-server that adds verdicts to the answer of /definitions. */
export interface Verdicts {
  url: string;
  /** By definition name; other definitions are passed on unchanged. */
  of: Map<string, string>;
  /** What the last replay of a golden set came to, by the set's name. */
  goldenSets: Map<string, { verdict: string; reason: string }>;
  stop(): Promise<void>;
}

export async function startVerdicts(apiServerUrl: string): Promise<Verdicts> {
  const of = new Map<string, string>();
  const goldenSets: Verdicts['goldenSets'] = new Map();
  const answer = async (path: string, authorization: string | undefined) => {
    const response = await fetch(`${apiServerUrl}${path}`, { headers: authorization ? { authorization } : {} });
    const body = (await response.json()) as {
      definitions?: { name: string; verdict: string | null }[];
      golden_sets?: object[];
    };
    for (const definition of body.definitions ?? []) definition.verdict = of.get(definition.name) ?? definition.verdict;
    if (body.definitions) body.golden_sets = [...goldenSets].map(([name, said]) => ({ name, ...said }));
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
    goldenSets,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
