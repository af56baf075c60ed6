import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DIALECTS } from '../testing/dialects.ts';
import { startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';
import { until } from '../testing/until.ts';

vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '100');
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
const MISBEHAVING = join(import.meta.dirname, '../testing/misbehaving-server.ts');
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const TRACESTATE = 'signalbox=b7ad6b7169203331,other=x:1';
interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  attributes: Attribute[];
}

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Takes OTLP over HTTP with JSON and keeps the spans. */
async function startCollector() {
  const spans: WireSpan[] = [];
  let service = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(String(Buffer.concat(chunks)));
      for (const { resource, scopeSpans } of body.resourceSpans) {
        service = JSON.stringify(resource.attributes);
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, service: () => service };
}

async function traced(
  otel: object,
): Promise<{ gateway: TestGateway; models: Awaited<ReturnType<typeof startFakeModelServer>> }> {
  const dialect = DIALECTS['openai_compatible']!;
  const models = await startFakeModelServer([
    dialect.toolCall({ name: 'here__meta', input: {} }),
    dialect.text('done'),
  ]);
  closing.push(models.close);
  const gateway = await startTestGateway({
    agents: { a: { config: { model: 'own/m-1', tools: ['here'] } } },
    config: {
      providers: { own: { type: 'openai_compatible', base_url: `${models.url}/v1`, default: true } },
      mcp_servers: { here: { command: process.execPath, args: [MISBEHAVING] } },
      observability: { otel },
    },
  });
  closing.push(gateway.close);
  await until(async () => (await gateway.http('GET', '/mcp/servers')).body.servers[0].running);
  return { gateway, models };
}

const run = async (gateway: TestGateway, meta: object = { tracestate: TRACESTATE }) =>
  (await gateway.rpc()).call('agent.run', {
    agent: 'a',
    input: 'x',
    session_key: 's-1',
    _meta: { traceparent: TRACEPARENT, ...meta },
  });

test('a run, its model calls and its tool calls are spans of the caller’s trace', async () => {
  const collector = await startCollector();
  const { gateway, models } = await traced({
    enabled: true,
    endpoint: `${collector.url}/v1/traces`,
    service_name: 'gw',
  });
  const answer = await run(gateway);
  expect(answer.result).toMatchObject({ text: 'done' });
  await until(() => collector.spans.length === 4);
  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  const [agent] = named('invoke_agent a');
  expect(agent).toMatchObject({ traceId: TRACE_ID, parentSpanId: 'b7ad6b7169203331' });
  const chats = named('chat own/m-1');
  const [tool] = named('execute_tool meta');
  expect(chats).toHaveLength(2);
  for (const span of [...chats, tool]) expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: agent?.spanId });
  const attributes = Object.fromEntries(chats[0]!.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  expect(attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'own',
    'gen_ai.request.model': 'own/m-1',
    'gen_ai.response.model': 'm-dated',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 20,
  });
  expect(agent?.attributes).toContainEqual({ key: 'gen_ai.conversation.id', value: { stringValue: 's-1' } });
  expect(models.requests[0]?.headers['tracestate']).toBe(TRACESTATE);
  expect(JSON.stringify(models.requests[1]?.body)).toContain('other=x:1');
  expect(collector.service()).toContain('gw');
  const traceparent = String(models.requests[0]?.headers['traceparent']);
  expect(chats.map(({ spanId }) => `00-${TRACE_ID}-${spanId}-01`)).toContain(traceparent);
  expect(JSON.stringify(models.requests[1]?.body)).toContain(`00-${TRACE_ID}-${tool?.spanId}-01`);
});

test('without tracing the caller’s context is carried on as it is', async () => {
  const { gateway, models } = await traced({});
  await run(gateway);
  expect(models.requests[0]?.headers).toMatchObject({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
  expect(JSON.stringify(models.requests[1]?.body)).toContain(TRACEPARENT);
  expect(JSON.stringify(models.requests[1]?.body)).toContain('other=x:1');
});

test.each([
  [{ traceparent: 'nonsense' }, [undefined, undefined]],
  [{ tracestate: 'a=b\r\nx-injected: 1' }, [TRACEPARENT, undefined]],
  [{ tracestate: 'x'.repeat(600) }, [TRACEPARENT, undefined]],
])('a context that cannot be read is left behind: %o', async (meta, expected) => {
  const { gateway, models } = await traced({});
  expect((await run(gateway, meta)).result).toMatchObject({ text: 'done' });
  const headers = models.requests[0]?.headers ?? {};
  expect([headers['traceparent'], headers['tracestate']]).toEqual(expected);
});

test('a collector that takes nothing is told of once, and runs go on', async () => {
  let refused = 0;
  const server = createServer((_, response) => {
    refused += 1;
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/other`;
  const { gateway } = await traced({ enabled: true, endpoint });
  for (const times of [1, 2]) {
    expect((await run(gateway)).result).toMatchObject({ text: 'done' });
    await until(() => refused >= times);
  }
  await until(() => gateway.warnings.length > 0);
  expect(gateway.warnings).toEqual([
    { endpoint, reason: expect.stringContaining('404'), msg: 'traces cannot be sent' },
  ]);
});
