import type { ActiveRun } from '../state/active-run.ts';
import type { StepView } from '../state/step-results.ts';

/** What of a run templates and expressions may see. */
export type SeenRun = Pick<ActiveRun, 'id' | 'pipeline' | 'context' | 'team' | 'stage' | 'triggeredAt' | 'results'>;

/** The names that templates and expressions see; context names win over metadata's. */
export function runValues(
  run: SeenRun,
  now: number,
  locals: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { context, pipeline } = run;
  return {
    ...namesIn(context.metadata),
    summary: context.summary,
    severity: context.severity,
    source: context.source,
    pipeline_name: pipeline.name,
    run_id: run.id,
    team: run.team,
    stage: run.stage,
    labels: context.labels,
    annotations: context.annotations,
    metadata: context.metadata,
    vars: pipeline.vars,
    steps: run.results.seen,
    context: lastContext(run.results),
    fan_out: null,
    run: { id: run.id, pipeline: pipeline.name, triggered_at: new Date(run.triggeredAt).toISOString() },
    now: new Date(now).toISOString(),
    ...locals,
  };
}

/** Keys of an alert's metadata that are names of their own: every text of every step gets a copy of them. */
const MAX_NAMES = 1000;
const named = new WeakMap<object, Record<string, unknown>>();

/** The first keys of the metadata; all are in `metadata`. */
export function namesIn(metadata: Record<string, unknown>): Record<string, unknown> {
  const names = named.get(metadata) ?? first(metadata);
  named.set(metadata, names);
  return names;
}

function first(metadata: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(metadata);
  return keys.length <= MAX_NAMES
    ? metadata
    : Object.fromEntries(keys.slice(0, MAX_NAMES).map((key) => [key, metadata[key]]));
}

/** What the last step that left something said to the next. */
function lastContext(results: ReadonlyMap<string, StepView>): unknown {
  return (
    [...results.values()].findLast(({ next_step_context }) => next_step_context !== null)?.next_step_context ?? null
  );
}
