import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

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

interface Rest {
  status?: Record<string, unknown>;
  /** That of the account where none is given. */
  namespace?: string;
}

export interface FakeApiServer {
  url: string;
  /** Creates or replaces an object; a changed spec is a new generation. */
  apply(kind: string, name: string, spec: Record<string, unknown>, rest?: Rest): void;
  remove(kind: string, name: string): void;
  get(kind: string, name: string): Stored | undefined;
  /** Status writes that were accepted. */
  statusWrites(): number;
  /** The credentials of the last request. */
  caller(): Caller;
  /** Connections that were opened so far. */
  connections(): number;
  /** Breaks off all watches that are open. */
  dropWatches(): void;
  /** The same, in the middle of an event. */
  dropWatchesMidEvent(): void;
  /** Says what to answer instead, by status; null answers as usual, 0 never. */
  intercept(rule: (method: string, path: string) => number | null): void;
  writeKubeconfig(directory: string): string;
  close(): Promise<void>;
}

export interface Caller {
  authorization: string | undefined;
  /** Common name of the client's certificate. */
  certificate: string | undefined;
}

function callerOf({ headers, socket }: IncomingMessage): Caller {
  const certificate = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
  return { authorization: headers.authorization, certificate: String(certificate ?? '') || undefined };
}

const KINDS: Record<string, string> = { pipelines: 'Pipeline', librarysteps: 'LibraryStep', agents: 'Agent' };

const texts = new WeakMap<Stored, string>();

/** Kept: that of a large object takes long to make. */
function textOf(object: Stored): string {
  const text = texts.get(object) ?? JSON.stringify(object);
  texts.set(object, text);
  return text;
}

const eventOf = (type: string, object: Stored): string => `{"type":"${type}","object":${textOf(object)}}\n`;

/** As much of an API server as lists, watches and status patches need; names are of all namespaces. */
export async function startFakeApiServer(tls?: { cert: string; key: string }): Promise<FakeApiServer> {
  const objects = new Map<string, Stored>();
  const watches = new Map<ServerResponse, string>();
  let version = 100;
  let uids = 0;
  let statusWrites = 0;
  let connections = 0;
  let caller: Caller = { authorization: undefined, certificate: undefined };
  let rule: (method: string, path: string) => number | null = () => null;

  const tell = (type: string, object: Stored) => {
    for (const [response, kind] of watches) if (kind === object.kind) response.write(eventOf(type, object));
  };
  const put = (object: Stored, type: string) => {
    object.metadata.resourceVersion = String(++version);
    objects.set(`${object.kind} ${object.metadata.name}`, object);
    tell(type, object);
    return object;
  };
  const patchStatus = async (request: IncomingMessage, response: ServerResponse, key: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const known = objects.get(key);
    if (!known) return void response.writeHead(404).end('{}');
    const patch = JSON.parse(Buffer.concat(chunks).toString()) as { path: string; value: unknown }[];
    const status = patch.find(({ path }) => path === '/status')?.value as Record<string, unknown>;
    statusWrites++;
    const { metadata } = put({ ...known, metadata: { ...known.metadata }, status }, 'MODIFIED');
    response.writeHead(200).end(JSON.stringify({ kind: 'PartialObjectMetadata', metadata }));
  };
  const watch = (response: ServerResponse, kind: string, from: number) => {
    response.flushHeaders();
    watches.set(response, kind);
    response.on('close', () => watches.delete(response));
    for (const object of ofKind(kind))
      if (Number(object.metadata.resourceVersion) > from) response.write(eventOf('ADDED', object));
  };
  const ofKind = (kind: string) => [...objects.values()].filter((object) => object.kind === kind);
  const pageOf = (kind: string, asked: URLSearchParams) => {
    const all = ofKind(kind);
    const from = Number(asked.get('continue'));
    const to = from + Number(asked.get('limit') ?? all.length);
    const metadata = { resourceVersion: String(version), ...(to < all.length ? { continue: String(to) } : {}) };
    const items = all.slice(from, to).map(textOf);
    return `{"kind":"${kind}List","metadata":${JSON.stringify(metadata)},"items":[${items.join()}]}`;
  };
  const answer: RequestListener = (request, response) => {
    const { method = 'GET', url = '/' } = request;
    caller = callerOf(request);
    response.setHeader('content-type', 'application/json');
    const forced = rule(method, url);
    if (forced === 0) return;
    if (forced !== null) return void response.writeHead(forced).end(JSON.stringify({ message: `forced ${forced}` }));
    const { pathname, searchParams } = new URL(url, 'http://fake');
    const [, plural = '', name] = /\/(pipelines|librarysteps|agents)(?:\/([^/]+)\/status)?$/.exec(pathname) ?? [];
    const kind = KINDS[plural];
    if (!kind) return void response.writeHead(404).end('{}');
    if (name) return void patchStatus(request, response, `${kind} ${name}`);
    if (searchParams.has('watch')) return watch(response, kind, Number(searchParams.get('resourceVersion')));
    response.end(pageOf(kind, searchParams));
  };
  const server = tls
    ? createTlsServer({ ...tls, ca: tls.cert, requestCert: true, rejectUnauthorized: false }, answer)
    : createServer(answer);
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    apply: (kind, name, spec, { status, namespace = 'default' } = {}) => {
      const known = objects.get(`${kind} ${name}`);
      const before = known?.metadata ?? {
        name,
        namespace,
        uid: `uid-${++uids}`,
        generation: 0,
        creationTimestamp: new Date().toISOString(),
      };
      const metadata = { ...before, generation: before.generation + 1, resourceVersion: '' };
      put({ ...known, kind, metadata, spec, ...(status ? { status } : {}) }, known ? 'MODIFIED' : 'ADDED');
    },
    remove: (kind, name) => {
      const known = objects.get(`${kind} ${name}`);
      objects.delete(`${kind} ${name}`);
      if (known) tell('DELETED', { ...known, metadata: { ...known.metadata, resourceVersion: String(++version) } });
    },
    get: (kind, name) => objects.get(`${kind} ${name}`),
    statusWrites: () => statusWrites,
    caller: () => caller,
    connections: () => connections,
    dropWatchesMidEvent: () => {
      for (const response of watches.keys()) response.write('{"type":"ADD', () => response.destroy());
    },
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
          clusters: named('fake', { cluster: { server: url } }),
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
