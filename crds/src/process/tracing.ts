/**
 * Tracing with OpenTelemetry, the same for every service. Import it only where tracing is on: its SDK is large.
 * What the configuration file says goes first; the rest is what the SDK's own variables say (`OTEL_*`).
 */
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';

type SpanExporter = NonNullable<NonNullable<ConstructorParameters<typeof NodeSDK>[0]>['traceExporter']>;

export type SpanAttributes = Record<string, string | number | boolean | string[] | null | undefined>;

/** W3C trace context. A type, because it is also sent as headers. */
export type TraceContext = { traceparent: string; tracestate?: string };

export interface Span {
  /** What the next process is sent. */
  readonly context: Required<TraceContext>;
  child(name: string, attributes: SpanAttributes): Span;
  event(name: string, attributes: SpanAttributes, at: Date): void;
  /** Once; `error` is the type of what went wrong. */
  end(attributes?: SpanAttributes, error?: string | null): void;
}

export interface Tracing {
  /** A span of the caller's trace, or the first of a new trace where the caller has none. */
  startSpan(name: string, attributes: SpanAttributes, caller?: TraceContext): Span;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface TracingOptions {
  /** Of the tracer, and `service.name` where neither `serviceName` nor a variable gives another. */
  name: string;
  version: string;
  exporter: 'otlp' | 'console';
  /** Of the collector, with or without `/v1/traces`. */
  endpoint: string | null;
  serviceName: string | null;
  /** Whether a child span with these attributes is a call to another process. */
  isCall(attributes: SpanAttributes): boolean;
  log: Log;
}

const CLOSE_TIMEOUT_MS = 5_000;
/** Of a text in an attribute: the spans that wait for the collector are all in memory. */
const MAX_TEXT_CHARS = 4_096;

/** Null where `OTEL_SDK_DISABLED` switches tracing off. */
export function startTracing(options: TracingOptions): Tracing | null {
  if (process.env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return null;
  const { name, version, serviceName, isCall, log } = options;
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': name, 'service.version': version }),
    resourceDetectors: [envDetector],
    ...(serviceName === null ? {} : { serviceName }),
    traceExporter: options.exporter === 'console' ? logExporter(log) : sayingFailures(otlpExporter(options), options),
    // Traces only.
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
  });
  sdk.start();
  const tracer = trace.getTracer(name, version);
  const wrap = (span: OtelSpan): Span => ({
    context: contextOf(span),
    child: (childName, attributes) => {
      const kind = isCall(attributes) ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const parent = trace.setSpan(ROOT_CONTEXT, span);
      return wrap(tracer.startSpan(childName, { kind, attributes: defined(attributes) }, parent));
    },
    event: (event, attributes, at) => void span.addEvent(event, defined(attributes), at),
    end: (attributes = {}, error = null) => {
      span.setAttributes(defined(attributes));
      if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  });
  return {
    startSpan: (spanName, attributes, caller) =>
      wrap(tracer.startSpan(spanName, { kind: SpanKind.SERVER, attributes: defined(attributes) }, parentOf(caller))),
    close: async () => {
      await Promise.race([sdk.shutdown(), new Promise<void>((end) => setTimeout(end, CLOSE_TIMEOUT_MS).unref())]);
      trace.disable();
      context.disable();
    },
  };
}

/** Without a `tracestate` from the caller, an entry of our own names the span, as the standard suggests for the start of a trace. */
function contextOf(span: OtelSpan): Required<TraceContext> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    tracestate: tracestate ? tracestate : `signalbox=${spanId}`,
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

const defined = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]),
  ) as Attributes;

/** A copy: a part of a text keeps all of it in memory. The limit of the SDK itself copies nothing. */
const cut = (text: string): string =>
  text.length <= MAX_TEXT_CHARS ? text : `${Buffer.from(text.slice(0, MAX_TEXT_CHARS)).toString()}…`;

/** The exporters of the SDK; each reads `OTEL_EXPORTER_OTLP_*` for what it is not given. */
const EXPORTERS = new Map<string, (url: string | undefined) => SpanExporter>([
  ['grpc', (url) => new GrpcExporter({ url })],
  ['http/json', (url) => new JsonExporter({ url: tracesAt(url) })],
  ['http/protobuf', (url) => new ProtobufExporter({ url: tracesAt(url) })],
]);

function otlpExporter({ endpoint, log }: TracingOptions): SpanExporter {
  const { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ofTraces, OTEL_EXPORTER_OTLP_PROTOCOL: ofAll } = process.env;
  const protocol = ofTraces ?? ofAll ?? 'http/json';
  const open = EXPORTERS.get(protocol);
  if (open) return open(endpoint ?? undefined);
  log.warn({ protocol, known: [...EXPORTERS.keys()] }, 'OTEL_EXPORTER_OTLP_PROTOCOL is none that is known: http/json');
  return new JsonExporter({ url: tracesAt(endpoint ?? undefined) });
}

/** Both forms of the address are accepted. */
const tracesAt = (endpoint: string | undefined) => endpoint?.replace(/(?:\/v1\/traces)?\/*$/, '/v1/traces');

/** Logs the first failure of a series: the SDK itself logs none. */
function sayingFailures(exporter: SpanExporter, { endpoint, log }: TracingOptions): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error && !failing) log.warn({ endpoint, reason: reasonOf(error) }, 'traces cannot be sent');
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
      // The constant is in a package that is not ours to import for one zero.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  };
}
