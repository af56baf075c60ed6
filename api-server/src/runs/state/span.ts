export type SpanAttributes = Record<string, string | number | boolean | null | undefined>;

/** W3C trace context as `_meta` of an agent call carries it. */
export interface TraceContext {
  traceparent: string;
  tracestate: string;
}

/** A stretch of a run in its trace (Orchestration 6); where nothing is traced, nothing at all. */
export interface Span {
  /** For calls to other services; null where nothing is traced. */
  readonly context: TraceContext | null;
  child(name: string, attributes: SpanAttributes): Span;
  /** Once; `error` is the type of what went wrong. */
  end(attributes?: SpanAttributes, error?: string | null): void;
}

/** What the root span of a run says of it. */
export interface TracedRun {
  id: string;
  team: string | null;
  stage: string;
  pipeline: { name: string };
  context: { source: string };
}

export type TraceRun = (run: TracedRun) => Span;

export const NO_SPAN: Span = { context: null, child: () => NO_SPAN, end: () => undefined };
