import type { Operator, Resting } from '@signalbox/crds';
import type { Metrics } from '../observability/metrics.ts';
import { type CachedPlan, createCachedPlan } from './cached-plan.ts';

/** The cached plan, with how long it took and what it says of the objects as metrics. */
export function createMeasuredPlan(
  metrics: Pick<Metrics, 'planSeconds' | 'objects'>,
  operator: Operator | undefined,
  resting: Resting,
): CachedPlan {
  const plan = createCachedPlan(operator, resting);
  return async (objects) => {
    const end = metrics.planSeconds.startTimer();
    const verdicts = await plan(objects);
    end();
    metrics.objects.reset();
    for (const { object, accepted } of verdicts) metrics.objects.inc({ kind: object.kind, accepted: String(accepted) });
    return verdicts;
  };
}
