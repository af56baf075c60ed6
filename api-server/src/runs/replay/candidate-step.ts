import { type AgentStep, type ExecutorStep, isFanOut, isParallel, Pipeline, type Step } from '@signalbox/crds';
import type { AnyStep } from '../state/step-context.ts';
import type { Candidate } from '../state/replay.ts';

/** A step of any place in a pipeline, by its name; a fan-out's name stands for the step of its items. */
export function stepNamed(entries: readonly Step[], name: string): AnyStep | null {
  for (const entry of entries) {
    if (isParallel(entry)) {
      const branch = entry.parallel.steps.find((step) => step.name === name);
      if (branch) return branch;
    } else if (entry.name === name) return isFanOut(entry) ? entry.fan_out.step : entry;
  }
  return null;
}

export const asksAgent = (step: AnyStep): step is Extract<AnyStep, { executor: 'gateway' | 'external' }> =>
  step.executor === 'gateway' || step.executor === 'external';

/**
 * A step as a replay runs it: with the candidate's changes, one call a sample, and without what only a live run has use
 * for (verifier, grounding, calibration, messages).
 */
export function candidateStep(
  base: Extract<AnyStep, { executor: 'gateway' | 'external' }>,
  name: string,
  { agent = base.agent, model = base.model, promptTemplate = base.prompt_template }: Candidate,
): AgentStep {
  const {
    verifier: _verifier,
    grounding: _grounding,
    calibration: _calibration,
    loop_until: _loop,
    readiness: _readiness,
    notifications: _notifications,
    ...kept
  } = base;
  if ('weight' in kept) delete (kept as { weight?: number }).weight;
  const prompt = { agent, prompt_template: promptTemplate, ...(model === undefined ? {} : { model }) };
  return { ...kept, ...prompt, name, on_failure: { policy: 'continue' } };
}

type Check = AgentStep['deterministic_checks'][number];

/** A request that may change something: it is sent in no replay. */
export const sendsChange = (check: Check): boolean => check.type === 'webhook' && check.method !== 'GET';

/** The step without some of its checks, and their names: they are named in the report, as neither passed nor failed. */
export function leaveOutChecks(
  step: AgentStep,
  isLeftOut: (check: Check) => boolean,
): { step: AgentStep; checksNotRun: string[] } {
  const { deterministic_checks: checks } = step;
  return {
    step: { ...step, deterministic_checks: checks.filter((check) => !isLeftOut(check)) },
    checksNotRun: checks.filter(isLeftOut).map(({ name }) => name),
  };
}

/** The definition of a batch's run: the steps that are replayed, and nothing that acts on the outside. */
export const replayPipeline = ({ name, vars }: Pick<Pipeline, 'name' | 'vars'>, steps: ExecutorStep[]): Pipeline => ({
  ...Pipeline.parse({ name, steps }),
  vars,
});
