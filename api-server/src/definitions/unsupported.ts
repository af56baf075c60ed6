import {
  isFanOut,
  isParallel,
  type ExecutorStep,
  type ItemStep,
  type Pipeline,
  type Problem,
  type ResolvedPipeline,
  type Step,
} from '@signalbox/crds';

type Found = { loc: (string | number)[]; msg: string };

/** Keys of a pipeline that the engine does not carry out yet; a definition that uses one is refused, never half run. */
const PIPELINE_KEYS: readonly (keyof Pipeline)[] = [];
const EXECUTORS = new Set<string>();

/** What of a pipeline this version cannot run, as load errors. */
export function unsupported({ name, file, config }: ResolvedPipeline): Problem[] {
  const pipelineKeys: Found[] = PIPELINE_KEYS.filter((key) => config[key] !== undefined).map((key) => ({
    loc: [key],
    msg: `${key} is not carried out by this version`,
  }));
  if (config.budget?.max_cost !== undefined) {
    pipelineKeys.push({ loc: ['budget', 'max_cost'], msg: 'costs are not computed by this version; use max_tokens' });
  }
  const steps = config.steps.flatMap((step, index) =>
    stepFindings(step).map(({ loc, msg }) => ({ loc: ['steps', index, ...loc], msg })),
  );
  return [...pipelineKeys, ...steps].map(({ loc, msg }) => ({
    severity: 'error',
    kind: 'Pipeline',
    name,
    file,
    loc,
    msg,
    reason: 'invalid',
  }));
}

function stepFindings(step: Step): Found[] {
  if (isParallel(step)) {
    return step.parallel.steps.flatMap((branch, at) =>
      callFindings(branch).map(({ loc, msg }) => ({ loc: ['parallel', 'steps', at, ...loc], msg })),
    );
  }
  if (isFanOut(step))
    return callFindings(step.fan_out.step).map(({ loc, msg }) => ({ loc: ['fan_out', 'step', ...loc], msg }));
  return callFindings(step);
}

function callFindings(step: ExecutorStep | ItemStep): Found[] {
  return EXECUTORS.has(step.executor)
    ? [{ loc: ['executor'], msg: `executor ${step.executor} is not run by this version` }]
    : [];
}
