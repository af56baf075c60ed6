import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  service: string;
}
interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: WireSpan[] }[];
  }[];
}

const spans: WireSpan[] = [];
const undo: (() => Promise<unknown> | void)[] = [];
let services: LocalServices;

/** Takes OTLP over HTTP with JSON from both services. */
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    for (const { resource, scopeSpans } of (JSON.parse(String(Buffer.concat(chunks))) as Export).resourceSpans) {
      const name = resource.attributes.find(({ key }) => key === 'service.name');
      const service = name?.value.stringValue ?? '';
      spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))));
    }
    response.end('{}');
  });
});

beforeAll(async () => {
  const scratch = scratchDirectory('trace-');
  undo.push(scratch.remove);
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  undo.push(() => void collector.close());
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const traced = (service_name: string) => (config: Record<string, unknown>) => {
    config['observability'] = { otel: { enabled: true, endpoint, service_name } };
  };
  services = await startLocalServices({
    dataDir: scratch.path,
    change: { gateway: traced('the-gateway'), 'api-server': traced('the-api-server') },
  });
  undo.push(services.stop);
});
afterAll(async () => {
  for (let last = undo.pop(); last; last = undo.pop()) await last();
});

test('one trace leads from the run in the api-server to the tool in the gateway', async () => {
  const { apiServer, tokens } = services;
  const body = { summary: 'Load is high', data: { instance: 'web-1' } };
  const started = await call(`${apiServer.url}/pipelines/host-load/run`, { token: tokens.operator, body });
  expect(started.status).toBe(202);
  const tool = () => spans.find(({ name }) => name.startsWith('execute_tool '));
  const parentOf = ({ parentSpanId }: WireSpan) => spans.find(({ spanId }) => spanId === parentSpanId);
  const path = () => {
    const steps: string[] = [];
    for (let span = tool(); span; span = parentOf(span)) steps.push(`${span.service} ${span.name.replace(/ .*/, '')}`);
    return steps;
  };
  // Spans come in batches, from two processes, and each once it has ended.
  await expect
    .poll(path)
    .toEqual([
      'the-gateway execute_tool',
      'the-gateway invoke_agent',
      'the-api-server gen_ai.gateway',
      'the-api-server step:',
      'the-api-server pipeline.run:',
    ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
});
