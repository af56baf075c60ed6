import { patternBudget } from '@signalbox/crds';
import { mayAdmit } from '../definitions/admits.ts';
import type { Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import type { ClosestPipeline } from './delivery-record.ts';

const MOST = 3;
const MAX_VALUE = 300;

/** A value of a context as dry runs show it. */
export const shownValue = (value: unknown): unknown => (typeof value === 'string' ? value.slice(0, MAX_VALUE) : value);

/**
 * The pipelines of which most rules hold for a context that nothing matches, each with its first rule that does not; of those that may get the
 * alert.
 */
export function closestPipelines(
  { pipelines }: Pick<Snapshot, 'pipelines'>,
  context: TriggerContext,
  team: string | null,
): ClosestPipeline[] {
  if (context.pipeline !== null) return [];
  // A hint: what it costs is bounded for all pipelines together.
  const budget = patternBudget();
  const subject = { ...context, team };
  const failures = pipelines.flatMap((pipeline) => {
    const { name, match } = pipeline;
    if (match === null || match.work > budget.left || !mayAdmit(pipeline, subject)) return [];
    budget.left -= match.work;
    const failure = match.failure(subject, budget);
    return failure ? [{ name, ...failure }] : [];
  });
  return failures
    .toSorted((a, b) => b.held - a.held)
    .slice(0, MOST)
    .map(({ name, key, rule, actual }) => ({
      pipeline: name,
      failedRule: key,
      expected: rule,
      actual: shownValue(actual),
    }));
}
