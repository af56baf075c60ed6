export type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

/** A stretch of time in a trace, or without tracing only the context that is carried on (Design 6). */
export interface RunSpan {
  /** W3C trace context, for whoever is called next. */
  traceparent: string | undefined;
  child(name: string, attributes: SpanAttributes): RunSpan;
  /** Once; `error` is the type of what went wrong. */
  end(attributes?: SpanAttributes, error?: string | null): void;
}
export type StartSpan = (name: string, attributes: SpanAttributes, traceparent: string | undefined) => RunSpan;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Records nothing and passes a well-formed context on. */
export const carryOn: StartSpan = (_name, _attributes, traceparent) => {
  const span: RunSpan = {
    traceparent: traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    child: () => span,
    end: () => {},
  };
  return span;
};
