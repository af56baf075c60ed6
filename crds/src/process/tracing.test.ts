import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { startTracing, type Tracing, type TracingOptions } from './tracing.ts';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Request {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Keeps what is sent to it; with a status, it takes nothing. */
async function startCollector(status = 200) {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ path: request.url ?? '', headers: request.headers, body: String(Buffer.concat(chunks)) });
      response.writeHead(status).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const warnings: object[] = [];
const log = { info: () => undefined, warn: (fields: object) => void warnings.push(fields) };
const options = (more: Partial<TracingOptions> = {}): TracingOptions => ({
  name: 'signalbox-test',
  version: '1.2.3',
  exporter: 'otlp',
  endpoint: null,
  serviceName: null,
  isCall: () => true,
  log,
  ...more,
});

/** Sends one span with a child. */
async function trace(more?: Partial<TracingOptions>): Promise<void> {
  const tracing = startTracing(options(more)) as Tracing;
  const span = tracing.startSpan('outer', { team: 'payments', none: null });
  span.child('inner', {}).end();
  span.end();
  await tracing.close();
}

test.each(['', '/', '/v1/traces', '/v1/traces/'])(
  'a collector is found at its address and at that of its traces: "%s"',
  async (path) => {
    const { requests, url } = await startCollector();
    await trace({ endpoint: url + path });
    expect(requests.map((request) => request.path)).toEqual(['/v1/traces']);
  },
);

test('where the file says nothing, the variables of OpenTelemetry do', async () => {
  const { requests, url } = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=shop');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment=canary');
  vi.stubEnv('OTEL_SERVICE_NAME', 'of-the-variable');
  await trace();
  expect(requests).toMatchObject([{ path: '/v1/traces', headers: { 'x-tenant': 'shop' } }]);
  expect(requests[0]?.body).toContain('canary');
  expect(requests[0]?.body).toContain('of-the-variable');
  expect(requests[0]?.body).toContain('1.2.3');
});

test('what the file says goes before the variables', async () => {
  const { requests, url } = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
  vi.stubEnv('OTEL_SERVICE_NAME', 'of-the-variable');
  await trace({ endpoint: url, serviceName: 'of-the-file' });
  expect(requests[0]?.body).toContain('of-the-file');
  expect(requests[0]?.body).not.toContain('of-the-variable');
});

test.each([
  [undefined, 'application/json'],
  ['http/json', 'application/json'],
  ['http/protobuf', 'application/x-protobuf'],
])('protocol %s is sent as %s', async (protocol, type) => {
  const { requests, url } = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', protocol);
  await trace({ endpoint: url });
  expect(requests.map(({ headers }) => headers['content-type'])).toEqual([type]);
});

test('a protocol that nobody knows is warned of', async () => {
  const { requests, url } = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'smoke');
  warnings.length = 0;
  await trace({ endpoint: url });
  expect(warnings).toEqual([{ protocol: 'smoke', known: ['grpc', 'http/json', 'http/protobuf'] }]);
  expect(requests).toHaveLength(1);
});

test('a sampler that keeps nothing sends nothing, and says so to the next process', async () => {
  const { requests, url } = await startCollector();
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'always_off');
  const tracing = startTracing(options({ endpoint: url })) as Tracing;
  const span = tracing.startSpan('outer', {});
  span.end();
  await tracing.close();
  expect(span.context.traceparent).toMatch(/-00$/);
  expect(requests).toEqual([]);
});

test('OTEL_SDK_DISABLED switches tracing off', () => {
  vi.stubEnv('OTEL_SDK_DISABLED', 'true');
  expect(startTracing(options())).toBeNull();
});

test('a span goes on with the trace of its caller; the first of a trace names itself in tracestate', async () => {
  const { requests, url } = await startCollector();
  const tracing = startTracing(options({ endpoint: url })) as Tracing;
  const caller = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'other=x:1' };
  const span = tracing.startSpan('outer', {}, caller);
  const first = tracing.startSpan('first', {});
  for (const each of [span, first]) each.end();
  await tracing.close();
  expect(span.context.traceparent).toContain('0af7651916cd43dd8448eb211c80319c');
  expect(span.context.tracestate).toBe('other=x:1');
  expect(first.context.tracestate).toBe(`signalbox=${first.context.traceparent.split('-')[2]}`);
  expect(requests[0]?.body).toContain('"parentSpanId":"b7ad6b7169203331"');
});

test('a collector that takes nothing is told of once', async () => {
  const { requests, url } = await startCollector(404);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '1');
  warnings.length = 0;
  const tracing = startTracing(options({ endpoint: url })) as Tracing;
  for (const times of [1, 2]) {
    tracing.startSpan('outer', {}).end();
    await vi.waitUntil(() => requests.length >= times, { timeout: 60_000 });
  }
  await tracing.close();
  expect(warnings).toEqual([{ endpoint: url, reason: expect.stringContaining('404') }]);
});

test('a text in a span or its event has a largest size', async () => {
  const { requests, url } = await startCollector();
  const tracing = startTracing(options({ endpoint: url })) as Tracing;
  const text = 'x'.repeat(100_000);
  const span = tracing.startSpan('outer', { text });
  span.event('said', { text }, new Date());
  span.end({ answer: text });
  await tracing.close();
  const body = requests[0]?.body ?? '';
  expect(body.match(/x{4096}…/g)).toHaveLength(3);
  expect(body.length).toBeLessThan(20_000);
});
