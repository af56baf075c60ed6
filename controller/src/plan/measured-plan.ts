import type { Metrics } from '../observability/metrics.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import type { Verdict } from './plan.ts';

type Plan = (objects: readonly CustomObject[]) => Verdict[];

export function timedPlan({ planSeconds }: Pick<Metrics, 'planSeconds'>, plan: Plan): Plan {
  return (objects) => {
    const end = planSeconds.startTimer();
    const verdicts = plan(objects);
    end();
    return verdicts;
  };
}

export function countVerdicts({ objects }: Pick<Metrics, 'objects'>, verdicts: readonly Verdict[]): void {
  objects.reset();
  for (const { object, accepted } of verdicts) objects.inc({ kind: object.kind, accepted: String(accepted) });
}
