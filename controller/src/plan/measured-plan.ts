import type { Operator } from '@signalbox/crds';
import type { Metrics } from '../observability/metrics.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import { createCachedPlan } from './cached-plan.ts';
import type { Verdict } from './plan.ts';

/** The cached plan, with how long it took and what it says of the objects as metrics. */
export function createMeasuredPlan(
  metrics: Pick<Metrics, 'planSeconds' | 'objects'>,
  operator: Operator | undefined,
): (objects: readonly CustomObject[]) => Verdict[] {
  const plan = createCachedPlan(operator);
  return (objects) => {
    const end = metrics.planSeconds.startTimer();
    const verdicts = plan(objects);
    end();
    metrics.objects.reset();
    for (const { object, accepted } of verdicts) metrics.objects.inc({ kind: object.kind, accepted: String(accepted) });
    return verdicts;
  };
}
