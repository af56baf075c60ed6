import {
  type Attributes,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OtelConfig } from '../config/config.ts';
import type { RunEvent } from '../runs/state/model.ts';
import type { Span, SpanAttributes, TracedRun, TraceRun } from '../runs/state/span.ts';

export interface TracingOptions {
  config: OtelConfig;
  version: string;
  log: { info(fields: object, message: string): void };
}

export interface Tracing {
  /** Begins the trace of a run. */
  run: TraceRun;
  /** An event of a run, for the span of its step, or of the run itself. */
  event(runId: string, event: RunEvent): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5_000;

/** The spans of a run that are open, so that events find theirs. */
interface Open {
  root: OtelSpan;
  steps: Map<string, OtelSpan>;
}

/** Tracing with OpenTelemetry. Only imported where the configuration asks for it: nobody else pays for the SDK. */
export function startTracing({ config, version, log }: TracingOptions): Tracing {
  const exporter = config.exporter === 'console' ? logExporter(log) : otlpExporter(config.endpoint);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': config.serviceName, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000 })],
  });
  const tracer = provider.getTracer('signalbox-api-server', version);
  const open = new Map<string, Open>();

  const wrap = (span: OtelSpan, runId: string, ended: () => void): Span => ({
    context: contextOf(span),
    child: (name, attributes) => {
      const kind = attributes['service.span.kind'] === 'model_call' ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const parent = trace.setSpan(ROOT_CONTEXT, span);
      const child = tracer.startSpan(name, { kind, attributes: defined(attributes) }, parent);
      const step = attributes['service.step.name'];
      const steps = open.get(runId)?.steps;
      if (typeof step !== 'string' || !steps || steps.has(step)) return wrap(child, runId, () => undefined);
      steps.set(step, child);
      return wrap(child, runId, () => void steps.delete(step));
    },
    end: (attributes = {}, error = null) => {
      span.setAttributes(defined(attributes));
      if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      ended();
    },
  });

  return {
    run: (run) => {
      const root = tracer.startSpan(rootName(run), {
        kind: SpanKind.SERVER,
        attributes: rootAttributes(run),
        root: true,
      });
      open.set(run.id, { root, steps: new Map() });
      return wrap(root, run.id, () => void open.delete(run.id));
    },
    event: (runId, event) => {
      const found = open.get(runId);
      const span = found?.steps.get(event.step_name ?? '') ?? found?.root;
      span?.addEvent(event.event, eventAttributes(event), new Date(event.ts));
    },
    close: () =>
      Promise.race([provider.shutdown(), new Promise<void>((end) => setTimeout(end, CLOSE_TIMEOUT_MS).unref())]),
  };
}

const rootName = ({ team, pipeline }: TracedRun): string =>
  `pipeline.run: ${team === null ? '' : `${team}/`}${pipeline.name}`;

const rootAttributes = ({ id, team, stage, pipeline, context }: TracedRun): Attributes =>
  defined({
    'service.span.kind': 'run',
    'service.run.id': id,
    'service.pipeline.name': pipeline.name,
    'service.source': context.source,
    'service.team': team,
    'service.stage': stage,
  });

/** `tracestate` names the span in our own entry, as the standard suggests for the one who starts a trace. */
function contextOf(span: OtelSpan): Span['context'] {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: `signalbox=${spanId}` };
}

const defined = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined),
  ) as Attributes;

/** What an event says beside its name; what agents and tools said stays in the run's log. */
function eventAttributes({
  level,
  msg,
  event: _,
  ts: _ts,
  seq: _seq,
  input: _in,
  result: _out,
  ...fields
}: RunEvent): Attributes {
  const scalars = Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return {
    level,
    msg,
    ...Object.fromEntries<string | number | boolean>(scalars as [string, string | number | boolean][]),
  };
}

function otlpExporter(endpoint: string | null): SpanExporter {
  // People give either address.
  return new OTLPTraceExporter(
    endpoint === null ? {} : { url: endpoint.replace(/(?:\/v1\/traces)?\/*$/, '/v1/traces') },
  );
}

/** Spans as lines of the log, for looking at them without a collector. */
function logExporter(log: TracingOptions['log']): SpanExporter {
  return {
    export: (spans, done) => {
      for (const span of spans) {
        const { traceId, spanId } = span.spanContext();
        const ids = { trace_id: traceId, span_id: spanId, parent_span_id: span.parentSpanContext?.spanId };
        const [seconds, nanoseconds] = span.duration;
        const duration_ms = seconds * 1000 + nanoseconds / 1e6;
        log.info({ name: span.name, ...ids, duration_ms, attributes: span.attributes }, 'span');
      }
      // The constant is in a package that is not ours to import for one zero.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  };
}
