import { isParallel, type Pipeline, type Readiness, type Step } from '@signalbox/crds';

/** Where criteria are tried out: on the pipeline, or on the steps that are named. */
export type ApplyTo = readonly string[] | null;

/** The pipeline with these criteria in place of those that stand there; `missing` names steps that are not there. */
export function withReadiness(
  pipeline: Pipeline,
  readiness: Readiness,
  applyTo: ApplyTo,
): { pipeline: Pipeline; missing: string[] } {
  if (applyTo === null) return { pipeline: { ...pipeline, readiness }, missing: [] };
  const found = new Set<string>();
  const replace = <S extends { name: string }>(step: S): S => {
    if (!applyTo.includes(step.name)) return step;
    found.add(step.name);
    return { ...step, readiness };
  };
  const steps = pipeline.steps.map((step): Step => {
    const own = replace(step);
    if (!isParallel(own)) return own;
    return { ...own, parallel: { ...own.parallel, steps: own.parallel.steps.map(replace) } };
  });
  return { pipeline: { ...pipeline, steps }, missing: applyTo.filter((name) => !found.has(name)) };
}
