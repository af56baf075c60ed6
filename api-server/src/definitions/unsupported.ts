import { isFanOut, isParallel, type Pipeline, type Problem, type ResolvedPipeline, type Step } from '@signalbox/crds';

type Found = { loc: (string | number)[]; msg: string };

/** Keys of a pipeline and of a step that the engine does not carry out yet; a definition that uses one is refused, never half run. */
const PIPELINE_KEYS: readonly (keyof Pipeline)[] = ['schedule', 'concurrency', 'budget', 'notifications'];
const STEP_KEYS = ['loop_until', 'verifier', 'grounding', 'calibration', 'notifications'] as const;
const EXECUTORS = new Set(['human', 'pipeline']);

/** What of a pipeline this version cannot run, as load errors. */
export function unsupported({ name, file, config }: ResolvedPipeline): Problem[] {
  const pipelineKeys = PIPELINE_KEYS.filter((key) => config[key] !== undefined).map((key) => ({ loc: [key], msg: `${key} is not carried out by this version` }));
  const steps = config.steps.flatMap((step, index) => stepFindings(step).map(({ loc, msg }) => ({ loc: ['steps', index, ...loc], msg })));
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
  if (isParallel(step)) return [{ loc: ['parallel'], msg: 'parallel groups are not run by this version' }];
  if (isFanOut(step)) return [{ loc: ['fan_out'], msg: 'fan-out is not run by this version' }];
  if (EXECUTORS.has(step.executor)) return [{ loc: ['executor'], msg: `executor ${step.executor} is not run by this version` }];
  const keys: Found[] = STEP_KEYS.filter((key) => key in step && step[key as keyof Step] !== undefined).map((key) => ({
    loc: [key],
    msg: `${key} is not carried out by this version`,
  }));
  const checks = 'deterministic_checks' in step && step.deterministic_checks.length > 0;
  if (checks) keys.push({ loc: ['deterministic_checks'], msg: 'deterministic_checks are not carried out by this version' });
  return keys;
}
