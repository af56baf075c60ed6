import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agentVersion } from '@signalbox/crds';

/** The part of a gateway that the manager uses: it serves the agents of the test and has a key for their pods. */
export interface FakeGateway {
  url: string;
  /** Serves an agent from the object's spec. */
  serve(name: string, spec: Record<string, unknown>): void;
  /** It is asked for its key in vain while this is false; true at first. */
  hasKey: boolean;
  stop(): Promise<void>;
}

const KEY =
  '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n';

export async function startFakeGateway(): Promise<FakeGateway> {
  const versions = new Map<string, string>();
  const answers: Record<string, () => object | null> = {
    '/runner-key': () => (gateway.hasKey ? { public_key: KEY } : null),
    '/agents': () => ({
      agents: [...versions].map(([name, version]) => ({
        name,
        version,
        discovered_tools: [{ server: 'metrics', name: 'query', hash: 'abc' }],
      })),
    }),
  };
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url]?.() ?? null;
    response.writeHead(answer ? 200 : 404).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const gateway: FakeGateway = {
    hasKey: true,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (name, { soul, ...spec }) => void versions.set(name, agentVersion({ name, ...spec }, String(soul))),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return gateway;
}
