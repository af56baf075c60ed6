export type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

/** W3C trace context, always well-formed. A type and not an interface, because it is also sent as headers. */
export type TraceContext = { traceparent: string; tracestate?: string };

/** A span of a trace; without tracing only the context, which is passed on. */
export interface RunSpan {
  /** Sent with calls that are made within this span. */
  context: TraceContext | undefined;
  child(name: string, attributes: SpanAttributes): RunSpan;
  /** Called once; `error` is the type of the failure. */
  end(attributes?: SpanAttributes, error?: string | null): void;
}
export type StartSpan = (name: string, attributes: SpanAttributes, caller: TraceContext | undefined) => RunSpan;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** At most 512 printable characters; a longer value is dropped, which the standard allows. */
const TRACESTATE = /^[ -~]{1,512}$/;

/** The context that a caller sent; undefined where it is absent or malformed. */
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
