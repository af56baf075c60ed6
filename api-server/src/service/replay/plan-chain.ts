import { setImmediate } from 'node:timers/promises';
import {
  type AgentStep,
  AppError,
  type ExecutorStep,
  isFanOut,
  isParallel,
  limitedNamespace,
  type Pipeline,
  type Step,
} from '@signalbox/crds';
import { asksAgent, candidateStep, leaveOutChecks, replayPipeline } from '../../runs/replay/candidate-step.ts';
import type { Candidate, ChainReplay } from '../../runs/state/replay.ts';
import { chainSamples } from '../../store/aggregates/chain-samples.ts';
import { candidateOf, type ChainLaunch } from './bodies.ts';
import type { ChooseDeps } from './launch-step.ts';
import { type Check, notReplayed } from './not-replayed.ts';
import { checkTemplate } from './plan-step.ts';
import { badField } from './refusals.ts';
import { requireReplay, requireSafe } from './safe-agents.ts';
import type { Batch } from './start-batch.ts';

export interface AskedChain {
  pipelineName: string;
  body: ChainLaunch;
  signal: AbortSignal;
}

/**
 * A batch over recorded runs of a pipeline: those that executed every step of the range, of which at least one has a label.
 * The range is read in the loaded definition. Throws `forbidden`, `not_found` and `unprocessable`.
 */
export async function planChain(
  deps: ChooseDeps,
  { pipelineName, body, signal }: AskedChain,
): Promise<Omit<Batch, 'launch'> & { replay: ChainReplay }> {
  requireReplay(deps.replaySettings);
  const loaded = deps.definitions().byName.get(pipelineName);
  if (!loaded) throw new AppError('not_found', `no pipeline is named "${pipelineName}"`);
  const { config: pipeline, standing } = loaded;
  const range = rangeOf(pipeline, body);
  const candidates = await candidatesOf(deps, range, body);
  if (agentSteps(range).length === 0) throw badField(['body', 'from_step'], 'no step of the range asks an agent');
  const names = range.map(({ name }) => name);
  const found = await chainSamples(deps.database.reader(signal), { pipelineName, stepNames: names, limit: body.k });
  const executed = { name: pipelineName, namespace: limitedNamespace(standing) };
  const isLeftOut = await notReplayed(deps, executed, found.runIds);
  const replayed = range.map((step) => withoutEffects(step, { candidates, isLeftOut }));
  const steps = replayed.map(({ step }) => step);
  const asked = agentSteps(steps);
  const agents = [...asked, ...agentSteps(range)].map(({ executor, agent }) => ({ executor, agent }));
  requireSafe(deps.replaySettings, [...agents, ...found.agents]);
  if (found.runIds.length === 0)
    throw badField(
      ['body', 'from_step'],
      'no recorded run in production has executed every step of the range and has a label in it',
    );
  const replay: ChainReplay = {
    kind: 'chain',
    pipelineName,
    fromStep: body.from_step,
    toStep: body.to_step,
    candidate: Object.fromEntries(candidates),
    k: body.k,
    asked: asked.map(({ name }) => name),
    checksNotRun: Object.fromEntries(replayed.map(({ step, checksNotRun }) => [step.name, checksNotRun])),
  };
  const unlabelled = { stepId: null, outcome: null, labelSource: null, pinned: false };
  return {
    source: 'replay',
    replay,
    samples: found.runIds.map((sourceRunId) => ({ ...unlabelled, sourceRunId })),
    pipeline: replayPipeline(pipeline, steps),
  };
}

/** The entries of the range; a group in it cannot be fed. */
function rangeOf({ steps }: Pipeline, { from_step, to_step }: ChainLaunch): ExecutorStep[] {
  const at = (key: 'from_step' | 'to_step', name: string): number => {
    const index = steps.findIndex((step) => step.name === name);
    if (index === -1) throw badField(['body', key], `the pipeline has no entry "${name}"`);
    return index;
  };
  const [from, to] = [at('from_step', from_step), at('to_step', to_step)];
  if (to < from) throw badField(['body', 'to_step'], `comes before "${from_step}"`);
  const range = steps.slice(from, to + 1);
  const group = range.find((step) => isParallel(step) || isFanOut(step));
  if (group) throw badField(['body', 'to_step'], `the range contains the group "${group.name}"`);
  return range.filter(
    (step): step is Exclude<Step, { parallel: unknown } | { fan_out: unknown }> => !isParallel(step) && !isFanOut(step),
  );
}

type Candidates = (readonly [string, Candidate])[];

/** To compile one template may take a fifth of a second, so other requests get between two. */
async function candidatesOf(
  { templates }: ChooseDeps,
  range: readonly ExecutorStep[],
  { candidate }: ChainLaunch,
): Promise<Candidates> {
  const asking = new Set(agentSteps(range).map(({ name }) => name));
  const candidates: Candidates = [];
  for (const [name, body] of Object.entries(candidate)) {
    if (!asking.has(name)) throw badField(['body', 'candidate', name], 'is no step of the range that asks an agent');
    const changes = candidateOf(body);
    await setImmediate();
    checkTemplate(templates, changes, ['body', 'candidate', name, 'prompt_template']);
    candidates.push([name, changes]);
  }
  return candidates;
}

const agentSteps = (steps: readonly ExecutorStep[]) => steps.filter((step): step is AgentStep => asksAgent(step));

/** A check that may change something is left out; the steps that are no agents are never executed. */
function withoutEffects(
  step: ExecutorStep,
  { candidates, isLeftOut }: { candidates: Candidates; isLeftOut: (check: Check) => boolean },
): { step: ExecutorStep; checksNotRun: string[] } {
  if (!asksAgent(step)) return { step, checksNotRun: [] };
  const changes = candidates.find(([name]) => name === step.name)?.[1] ?? {};
  return leaveOutChecks(candidateStep(step, step.name, changes), (check) => check.type === 'shell' || isLeftOut(check));
}
