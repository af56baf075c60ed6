import { isFanOut, type Pipeline } from '@signalbox/crds';
import { family } from '../state/hourly.ts';
import { byEnd } from '../state/end-order.ts';
import type { StepExecution } from '../state/model.ts';
import type { RecordedRun } from '../state/replay.ts';
import { StepResults, type StepView } from '../state/step-results.ts';
import { runValues } from '../prompt/run-values.ts';

export type Rebuilt<T> = { ok: true; value: T } | { ok: false; reason: string };

/** What a recorded execution saw of its run, under the names that templates and expressions use. */
export function recordedValues(recorded: RecordedRun, step: StepExecution): Rebuilt<Record<string, unknown>> {
  const results = resultsBefore(recorded, step.stepIndex);
  if (!results.ok) return results;
  const item = itemOf(recorded, step);
  if (!item.ok) return item;
  return { ok: true, value: valuesWith(recorded, results.value, { at: step.startedAt, locals: item.value }) };
}

/** The same with other results, for a step that is fed by replayed ones. */
export const valuesWith = (
  { run, pipeline, context }: Pick<RecordedRun, 'run' | 'pipeline' | 'context'>,
  results: ReadonlyMap<string, StepView>,
  { at, locals = {} }: { at: number; locals?: Record<string, unknown> },
): Record<string, unknown> => runValues({ ...run, pipeline, context, results: new StepResults(results) }, at, locals);

/** Results of the entries before an entry, in the order of their end. */
export function resultsBefore({ pipeline, steps }: RecordedRun, index: number): Rebuilt<Map<string, StepView>> {
  const before = steps.filter((step) => step.stepIndex < index && step.completedAt !== null).toSorted(byEnd);
  const results = new Map(before.map(({ stepName, view }) => [stepName, view]));
  const missing = pipeline.steps.slice(0, index).find(({ name }) => !results.has(name));
  if (missing) return { ok: false, reason: `the recorded run has no result of step "${missing.name}"` };
  return { ok: true, value: results };
}

/** The fan-out that an execution is a branch of; null for any other. */
export const fanOutOf = ({ kind, stepName }: StepExecution): string | null =>
  kind === 'fan_out_branch' ? family(stepName) : null;

/** A branch of a fan-out sees its item, which the row of the group keeps. */
function itemOf({ pipeline, items }: RecordedRun, step: StepExecution): Rebuilt<Record<string, unknown>> {
  const name = fanOutOf(step);
  if (name === null) return { ok: true, value: {} };
  const at = Number(step.stepName.slice(name.length + 1));
  const as = variableOf(pipeline, name);
  if (as === null || !Array.isArray(items) || !(at in items))
    return { ok: false, reason: 'the recorded run has lost the items of its fan-out' };
  const item: unknown = items[at];
  return { ok: true, value: { [as]: item, fan_out: { index: at, total: items.length, item } } };
}

function variableOf({ steps }: Pipeline, name: string): string | null {
  const entry = steps.find((step) => step.name === name);
  return entry && isFanOut(entry) ? entry.fan_out.as : null;
}
