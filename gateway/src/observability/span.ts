export type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

/** W3C trace context as it travels: well-formed, or not at all. A type, because it is also sent as headers. */
export type TraceContext = { traceparent: string; tracestate?: string };

/** A stretch of time in a trace, or without tracing only the context that is carried on (Design 6). */
export interface RunSpan {
  /** For whoever is called next. */
  context: TraceContext | undefined;
  child(name: string, attributes: SpanAttributes): RunSpan;
  /** Once; `error` is the type of what went wrong. */
  end(attributes?: SpanAttributes, error?: string | null): void;
}
export type StartSpan = (name: string, attributes: SpanAttributes, caller: TraceContext | undefined) => RunSpan;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** At most 512 printable characters; a longer one may be dropped as a whole, and is. */
const TRACESTATE = /^[ -~]{1,512}$/;

/** The context that a caller sent; undefined where it sent none or one that cannot be read. */
export function traceContextOf(
  meta: { traceparent?: string | undefined; tracestate?: string | undefined } | undefined,
): TraceContext | undefined {
  const { traceparent, tracestate } = meta ?? {};
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return undefined;
  return tracestate !== undefined && TRACESTATE.test(tracestate) ? { traceparent, tracestate } : { traceparent };
}

/** Records nothing and passes the context on. */
export const carryOn: StartSpan = (_name, _attributes, context) => {
  const span: RunSpan = {
    context,
    child: () => span,
    end: () => {},
  };
  return span;
};
