import { type Span as ProcessSpan, type SpanAttributes, startTracing as start } from '@signalbox/crds/process/tracing';
import type { OtelConfig } from '../config/config.ts';
import type { RunEvent } from '../runs/state/model.ts';
import type { Span, TracedRun, TraceRun } from '../runs/state/span.ts';

export interface TracingOptions {
  config: OtelConfig;
  version: string;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

export interface Tracing {
  /** Starts the trace of a run. */
  run: TraceRun;
  /** Adds an event to the span of its step, or to that of the run. */
  event(runId: string, event: RunEvent): void;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** The open spans of a run, by step. */
interface Open {
  root: ProcessSpan;
  steps: Map<string, ProcessSpan>;
}

/** The traces of runs; null where the environment disables tracing. Imported only when tracing is enabled. */
export function startTracing({ config, version, log }: TracingOptions): Tracing | null {
  const isCall = (attributes: SpanAttributes) => attributes['service.span.kind'] === 'model_call';
  const tracing = start({ name: 'signalbox-api-server', version, ...config, isCall, log });
  if (tracing === null) return null;
  const open = new Map<string, Open>();

  const wrap = (span: ProcessSpan, runId: string, ended: () => void): Span => ({
    context: span.context,
    child: (name, attributes) => {
      const child = span.child(name, attributes);
      const step = attributes['service.step.name'];
      const steps = open.get(runId)?.steps;
      if (typeof step !== 'string' || !steps || steps.has(step)) return wrap(child, runId, () => undefined);
      steps.set(step, child);
      return wrap(child, runId, () => void steps.delete(step));
    },
    end: (attributes, error) => {
      span.end(attributes, error);
      ended();
    },
  });

  return {
    run: (run) => {
      const root = tracing.startSpan(rootName(run), rootAttributes(run));
      open.set(run.id, { root, steps: new Map() });
      return wrap(root, run.id, () => void open.delete(run.id));
    },
    event: (runId, event) => {
      const found = open.get(runId);
      const span = found?.steps.get(event.step_name ?? '') ?? found?.root;
      span?.event(event.event, eventAttributes(event), new Date(event.ts));
    },
    close: tracing.close,
  };
}

const rootName = ({ team, pipeline }: TracedRun): string =>
  `pipeline.run: ${team === null ? '' : `${team}/`}${pipeline.name}`;

const rootAttributes = ({ id, team, stage, pipeline, context }: TracedRun): SpanAttributes => ({
  'service.span.kind': 'run',
  'service.run.id': id,
  'service.pipeline.name': pipeline.name,
  'service.source': context.source,
  'service.team': team,
  'service.stage': stage,
});

/** Attributes of an event. Texts of agents and tools are not exported. */
function eventAttributes({
  level,
  msg,
  event: _,
  ts: _ts,
  seq: _seq,
  input: _in,
  result: _out,
  ...fields
}: RunEvent): SpanAttributes {
  const scalars = Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return {
    level,
    msg,
    ...Object.fromEntries<string | number | boolean>(scalars as [string, string | number | boolean][]),
  };
}
