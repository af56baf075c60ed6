import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createWorld, sure, type World, type WorldOptions } from '../runs/fixtures/engine.ts';
import { startTracing, type Tracing, type TracingOptions } from './otel.ts';

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  events?: { name: string }[];
  status?: { code?: number };
}

const silent = { info: () => undefined, warn: () => undefined };
const traces = (options: TracingOptions) => startTracing(options) as Tracing;

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Takes OTLP over HTTP with JSON, as the exporter sends it, and keeps what came. */
async function startCollector() {
  const spans: WireSpan[] = [];
  const paths: string[] = [];
  let resource = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      paths.push(request.url ?? '');
      const { resourceSpans } = JSON.parse(String(Buffer.concat(chunks))) as {
        resourceSpans: { resource: unknown; scopeSpans: { spans: WireSpan[] }[] }[];
      };
      for (const sent of resourceSpans) {
        resource = JSON.stringify(sent.resource);
        for (const scope of sent.scopeSpans) spans.push(...scope.spans);
      }
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}/`, spans, paths, resource: () => resource };
}

type Collector = Awaited<ReturnType<typeof startCollector>>;

async function traced(options: Omit<WorldOptions, 'tracing'>): Promise<{ world: World; sent(): Promise<Collector> }> {
  const collector = await startCollector();
  const config = { exporter: 'otlp', endpoint: collector.endpoint, serviceName: 'pipelines' } as const;
  const tracing = traces({ config, version: '1.2.3', log: silent });
  const world = await createWorld({ ...options, tracing });
  closing.push(world.close);
  const sent = async () => {
    await tracing.close();
    return collector;
  };
  return { world, sent };
}

const attributesOf = ({ attributes }: WireSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const eventsOf = ({ events = [] }: WireSpan) => events.map(({ name }) => name);

/** Every span as `parent > name`, in the order of their names. */
function tree(spans: WireSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span.name]));
  return spans.map(({ name, parentSpanId }) => `${byId.get(parentSpanId ?? '') ?? ''} > ${name}`).toSorted();
}

const SHAPES = `
name: shapes
stage: production
steps:
  - name: look
    executor: gateway
    agent: eye
    model: p/m-asked
    prompt_template: "look"
    verifier: {executor: gateway, agent: reviewer, mode: critic}
    grounding: {agent: judge}
  - name: both
    parallel:
      join: all_must_pass
      steps:
        - {name: left, executor: gateway, agent: eye, prompt_template: "l"}
        - {name: right, executor: gateway, agent: eye, prompt_template: "r"}
  - name: each
    fan_out: {over: '["a"]', as: item, step: {executor: gateway, agent: eye, prompt_template: "{{item}}"}}
`;
const AGENTS = { eye: () => sure(0.9), reviewer: () => sure(0.8), judge: () => sure(1, { score: 1 }) };

test('a run is one trace: its steps, groups, branches, second opinions and model calls, each with what is known of it', async () => {
  const { world, sent } = await traced({ pipelines: [SHAPES], agents: AGENTS });
  const { run, step } = await world.run('shapes');
  const { spans, paths, resource } = await sent();
  expect(run.status).toBe('completed');
  expect(new Set(paths)).toEqual(new Set(['/v1/traces']));
  expect(resource()).toContain('pipelines');
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(tree(spans)).toEqual([
    ' > pipeline.run: payments/shapes',
    'branch: each/0 > gen_ai.gateway',
    'branch: left > gen_ai.gateway',
    'branch: right > gen_ai.gateway',
    'fan_out: each > branch: each/0',
    'grounding: judge > gen_ai.gateway',
    'parallel: both > branch: left',
    'parallel: both > branch: right',
    'pipeline.run: payments/shapes > fan_out: each',
    'pipeline.run: payments/shapes > parallel: both',
    'pipeline.run: payments/shapes > step: look',
    'step: look > gen_ai.gateway',
    'step: look > grounding: judge',
    'step: look > verifier: reviewer',
    'verifier: reviewer > gen_ai.gateway',
  ]);
  const named = (name: string) => spans.find((span) => span.name === name) as WireSpan;
  expect(attributesOf(named('pipeline.run: payments/shapes'))).toMatchObject({
    'service.span.kind': 'run',
    'service.pipeline.name': 'shapes',
    'service.run.id': run.id,
    'service.source': 'generic',
    'service.team': 'payments',
    'service.run.status': 'completed',
  });
  const look = named('step: look');
  expect(attributesOf(look)).toMatchObject({
    'service.span.kind': 'step',
    'service.executor': 'gateway',
    'service.agent': 'eye',
    'service.model': 'm',
    'service.provider': 'p',
    'service.prompt_hash': step('look').promptHash,
    'service.agent_version': 'v1',
    'service.confidence': 0.8,
  });
  // The verifier and the judge are asked at the same time.
  const [first, ...events] = eventsOf(look);
  expect([first, events.slice(0, 2).toSorted(), events.slice(2, 4).toSorted(), events.slice(4)]).toEqual([
    'step_started',
    ['grounding_asked', 'verifier_asked'],
    ['grounding_ran', 'verifier_ran'],
    ['step_completed'],
  ]);
  expect(eventsOf(named('branch: left'))).toContain('branch_completed');
  expect(attributesOf(named('parallel: both'))).toMatchObject({
    'service.span.kind': 'parallel',
    'service.join_strategy': 'all_must_pass',
    'service.branch_count': 2,
  });
  const call = spans.find(({ name, parentSpanId }) => name === 'gen_ai.gateway' && parentSpanId === look.spanId);
  expect(attributesOf(call as WireSpan)).toMatchObject({
    'gen_ai.system': 'gateway',
    'gen_ai.request.model': 'p/m-asked',
    'gen_ai.response.model': 'm',
    'service.gateway.duration_ms': 7,
    'service.agent': 'eye',
  });
});

test('each iteration of a loop is named by its call', async () => {
  const pipeline =
    'name: p\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: Go, loop_until: {confidence: 0.8, max_iterations: 3}}]';
  let confidence = 0.3;
  const { world, sent } = await traced({ pipelines: [pipeline], agents: { a: () => sure((confidence += 0.2)) } });
  await world.run('p');
  const calls = (await sent()).spans.filter(({ name }) => name === 'gen_ai.gateway');
  expect(calls.map((call) => attributesOf(call)['service.step.iteration'])).toEqual([1, 2, 3]);
});

test('agents are asked with the trace context of the call', async () => {
  const { world, sent } = await traced({ pipelines: [SHAPES], agents: AGENTS });
  await world.run('shapes');
  const { spans } = await sent();
  const calls = spans.filter(({ name }) => name === 'gen_ai.gateway');
  const expected = calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  expect(world.calls.map(({ trace }) => trace?.traceparent).toSorted()).toEqual(expected.toSorted());
  for (const { trace } of world.calls) expect(trace?.tracestate).toBe(`signalbox=${trace?.traceparent.split('-')[2]}`);
});

test('a failed step is an error in the trace, with its type; what agents said is not there', async () => {
  const pipeline =
    'name: p\nsteps: [{name: one, executor: gateway, agent: nobody, prompt_template: the secret prompt}]';
  const { world, sent } = await traced({ pipelines: [pipeline] });
  await world.run('p');
  const { spans } = await sent();
  for (const span of spans) expect(span.status?.code).toBe(2);
  const step = spans.find(({ name }) => name === 'step: one') as WireSpan;
  expect(attributesOf(step)).toMatchObject({ 'error.type': 'not_found', 'service.step.status': 'failed' });
  expect(JSON.stringify(spans)).not.toContain('the secret prompt');
});

test('a run without a team has a root span of the pipeline alone, and without tracing nobody sends a context', async () => {
  const lines: object[] = [];
  const log = { ...silent, info: (fields: object) => void lines.push(fields) };
  const tracing = traces({
    config: { exporter: 'console', endpoint: null, serviceName: 's' },
    version: '1',
    log,
  });
  const run = { id: 'r', team: null, stage: 'testing', pipeline: { name: 'p' }, context: { source: 'schedule' } };
  tracing.run(run).end({ 'service.run.status': 'completed' });
  await tracing.close();
  expect(lines).toMatchObject([{ name: 'pipeline.run: p', attributes: { 'service.source': 'schedule' } }]);
  const world = await createWorld({ pipelines: [SHAPES], agents: AGENTS });
  closing.push(world.close);
  await world.run('shapes');
  expect(world.calls.every((call) => !('trace' in call))).toBe(true);
});
