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
    for (const [kind, those] of Map.groupBy(verdicts, ({ object }) => object.kind)) {
      const accepted = those.filter((one) => one.accepted).length;
      metrics.objects.set({ kind, accepted: 'true' }, accepted);
      metrics.objects.set({ kind, accepted: 'false' }, those.length - accepted);
    }
    return verdicts;
  };
}
