import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { RunSpan, SpanAttributes, StartSpan, TraceContext } from './span.ts';
import type { Log } from './log.ts';

export interface OtelOptions {
  exporter: 'otlp' | 'console';
  /** Of the collector, with or without `/v1/traces`. */
  endpoint: string | undefined;
  serviceName: string;
  version: string;
  log: Log;
}
export interface Tracing {
  startSpan: StartSpan;
  /** Sends the remaining spans. */
  close: () => Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5000;

/** Tracing with OpenTelemetry. Imported only where tracing is on, because the SDK costs memory and start time. */
export function startTracing({ exporter, endpoint, serviceName, version, log }: OtelOptions): Tracing {
  const sink = exporter === 'console' ? logExporter(log) : toldOf(otlpExporter(endpoint), { endpoint }, log);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter: sink, scheduledDelayMillis: 1000 })],
  });
  const tracer = provider.getTracer('signalbox-gateway', version);
  return {
    startSpan: (name, attributes, caller) => {
      const parent = parentOf(caller);
      return wrap(tracer, tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: defined(attributes) }, parent));
    },
    close: () =>
      Promise.race([provider.shutdown(), new Promise<void>((end) => setTimeout(end, CLOSE_TIMEOUT_MS).unref())]),
  };
}

function otlpExporter(endpoint: string | undefined): SpanExporter {
  // Both forms of the address are accepted.
  return new OTLPTraceExporter(
    endpoint === undefined ? {} : { url: endpoint.replace(/(?:\/v1\/traces)?\/*$/, '/v1/traces') },
  );
}

/** Logs the first failure of a series: the SDK itself logs none. */
function toldOf(exporter: SpanExporter, fields: { endpoint: string | undefined }, log: Log): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error && !failing) log.warn({ ...fields, reason: reasonOf(error) }, 'traces cannot be sent');
        failing = error !== undefined;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

function reasonOf(error: Error & { code?: unknown }): string {
  return [error.code, error.message].filter((part) => part !== undefined && part !== '').join(' ');
}

function wrap(tracer: Tracer, span: Span): RunSpan {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const tracestate = traceState?.serialize();
  return {
    context: {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      ...(tracestate ? { tracestate } : {}),
    },
    child: (name, attributes) => {
      const options = { kind: SpanKind.CLIENT, attributes: defined(attributes) };
      return wrap(tracer, tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, span)));
    },
    end: (attributes = {}, error = null) => {
      span.setAttributes(defined(attributes));
      if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function parentOf(caller: TraceContext | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(caller?.traceparent ?? '') ?? [];
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT;
  const traceState = caller?.tracestate === undefined ? undefined : createTraceState(caller.tracestate);
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, traceState };
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

function defined(attributes: SpanAttributes): Attributes {
  return attributes;
}

/** Writes spans to the log, for use without a collector. */
function logExporter(log: Log): SpanExporter {
  return {
    export: (spans, done) => {
      for (const span of spans) {
        const { traceId, spanId } = span.spanContext();
        const ids = { trace_id: traceId, span_id: spanId, parent_span_id: span.parentSpanContext?.spanId };
        const [seconds, nanoseconds] = span.duration;
        const duration_ms = seconds * 1000 + nanoseconds / 1e6;
        log.info({ name: span.name, ...ids, duration_ms, attributes: span.attributes }, 'span');
      }
      // The constant for 0 is in a package that is not a dependency.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  };
}
