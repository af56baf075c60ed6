import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

interface Stored {
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    generation: number;
    resourceVersion: string;
    creationTimestamp: string;
  };
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface FakeApiServer {
  url: string;
  /** Creates or replaces an object; a changed spec is a new generation. */
  apply(kind: string, name: string, spec: Record<string, unknown>): void;
  remove(kind: string, name: string): void;
  get(kind: string, name: string): Stored | undefined;
  /** Status writes that were accepted. */
  statusWrites(): number;
  /** Breaks off all watches that are open. */
  dropWatches(): void;
  /** Says what to answer instead, by status; null answers as usual. */
  intercept(rule: (method: string, path: string) => number | null): void;
  writeKubeconfig(directory: string): string;
  close(): Promise<void>;
}

const KINDS: Record<string, string> = { pipelines: 'Pipeline', librarysteps: 'LibraryStep', agents: 'Agent' };

/** As much of an API server as lists, watches and status patches need, in one namespace. */
export async function startFakeApiServer(): Promise<FakeApiServer> {
  const objects = new Map<string, Stored>();
  const watches = new Map<ServerResponse, string>();
  let version = 100;
  let uids = 0;
  let statusWrites = 0;
  let rule: (method: string, path: string) => number | null = () => null;

  const tell = (type: string, object: Stored) => {
    for (const [response, kind] of watches)
      if (kind === object.kind) response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const put = (object: Stored, type: string) => {
    object.metadata.resourceVersion = String(++version);
    objects.set(`${object.kind} ${object.metadata.name}`, object);
    tell(type, object);
  };
  const patchStatus = async (request: IncomingMessage, response: ServerResponse, key: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const known = objects.get(key);
    if (!known) return void response.writeHead(404).end('{}');
    const patch = JSON.parse(Buffer.concat(chunks).toString()) as { path: string; value: unknown }[];
    const status = patch.find(({ path }) => path === '/status')?.value as Record<string, unknown>;
    statusWrites++;
    put({ ...known, metadata: { ...known.metadata }, status }, 'MODIFIED');
    response.writeHead(200).end(JSON.stringify(objects.get(key)));
  };
  const watch = (response: ServerResponse, kind: string, from: number) => {
    response.flushHeaders();
    watches.set(response, kind);
    response.on('close', () => watches.delete(response));
    for (const object of ofKind(kind))
      if (Number(object.metadata.resourceVersion) > from)
        response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
  };
  const ofKind = (kind: string) => [...objects.values()].filter((object) => object.kind === kind);
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/' } = request;
    const forced = rule(method, url);
    if (forced !== null) return void response.writeHead(forced).end(JSON.stringify({ message: `forced ${forced}` }));
    const { pathname, searchParams } = new URL(url, 'http://fake');
    const [, plural = '', name] = /\/(pipelines|librarysteps|agents)(?:\/([^/]+)\/status)?$/.exec(pathname) ?? [];
    const kind = KINDS[plural];
    if (!kind) return void response.writeHead(404).end('{}');
    if (name) return void patchStatus(request, response, `${kind} ${name}`);
    if (searchParams.has('watch')) return watch(response, kind, Number(searchParams.get('resourceVersion')));
    const list = { kind: `${kind}List`, metadata: { resourceVersion: String(version) }, items: ofKind(kind) };
    response.end(JSON.stringify(list));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    apply: (kind, name, spec) => {
      const known = objects.get(`${kind} ${name}`);
      const before = known?.metadata ?? {
        name,
        namespace: 'default',
        uid: `uid-${++uids}`,
        generation: 0,
        creationTimestamp: new Date().toISOString(),
      };
      const metadata = { ...before, generation: before.generation + 1, resourceVersion: '' };
      put({ ...known, kind, metadata, spec }, known ? 'MODIFIED' : 'ADDED');
    },
    remove: (kind, name) => {
      const known = objects.get(`${kind} ${name}`);
      objects.delete(`${kind} ${name}`);
      if (known) tell('DELETED', { ...known, metadata: { ...known.metadata, resourceVersion: String(++version) } });
    },
    get: (kind, name) => objects.get(`${kind} ${name}`),
    statusWrites: () => statusWrites,
    dropWatches: () => {
      for (const response of watches.keys()) response.destroy();
    },
    intercept: (next) => (rule = next),
    writeKubeconfig: (directory) => {
      const path = join(directory, 'kubeconfig.json');
      const named = (name: string, rest: object) => [{ name, ...rest }];
      writeFileSync(
        path,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: named('fake', { cluster: { server: url, 'insecure-skip-tls-verify': true } }),
          users: named('test', { user: {} }),
          contexts: named('test', { context: { cluster: 'fake', user: 'test' } }),
          'current-context': 'test',
        }),
      );
      return path;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
