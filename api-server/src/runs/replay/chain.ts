import type { ExecutorStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { StepView } from '../state/step-results.ts';
import {
  candidateName,
  type ChainReplay,
  gradeOf,
  type RecordedRun,
  type RecordedStep,
  type ReplaySample,
} from '../state/replay.ts';
import { stepView } from '../run/step-view.ts';
import { asksAgent } from './candidate-step.ts';
import { executeCandidate, countGrade } from './execute.ts';
import { type Rebuilt, resultsBefore, valuesWith } from './recorded-values.ts';
import type { ReplayingDeps } from './replay-deps.ts';

export interface OneChain {
  replay: ChainReplay;
  /** A recorded run. */
  sample: ReplaySample;
}

/**
 * Replays a range of steps of one recorded run, each fed by the replayed results before it. A step with effects is not
 * executed: it answers what was recorded. A step that fails ends the chain (Orchestration 3).
 */
export async function replayChain(deps: ReplayingDeps, run: ActiveRun, one: OneChain): Promise<void> {
  const start = await startOf(deps, run, one.sample);
  if (!start.ok) return leaveOut(deps, run, one, start.reason);
  const { recorded, results, steps } = start.value;
  for (const [index, known] of steps.entries()) {
    if (run.controller.signal.aborted) return;
    const step = run.pipeline.steps[index] as ExecutorStep;
    const view = await resultOf(deps, run, { step, index, known, recorded, sample: one.sample, results });
    if (!view) return;
    results.set(step.name, view);
  }
}

/** What stays of a recorded run beside the results of its steps. */
type Origin = Pick<RecordedRun, 'run' | 'pipeline' | 'context'>;

interface Start {
  recorded: Origin;
  /** Of the entries before the range. */
  results: Map<string, StepView>;
  /** The recorded executions of the range. */
  steps: RecordedStep[];
}

async function startOf(
  deps: ReplayingDeps,
  { pipeline }: ActiveRun,
  { sourceRunId }: ReplaySample,
): Promise<Rebuilt<Start>> {
  const recorded = sourceRunId === null ? null : await deps.readRecorded({ runId: sourceRunId, fanOut: null });
  if (!recorded) return { ok: false, reason: 'the recorded run is gone' };
  const steps = pipeline.steps.flatMap(({ name }) => recorded.steps.find(({ stepName }) => stepName === name) ?? []);
  const [first] = steps;
  if (!first || steps.length < pipeline.steps.length)
    return { ok: false, reason: 'the recorded run has not executed every step of the range' };
  const results = resultsBefore(recorded, first.stepIndex);
  if (!results.ok) return results;
  const { run, pipeline: recordedPipeline, context } = recorded;
  return { ok: true, value: { recorded: { run, pipeline: recordedPipeline, context }, results: results.value, steps } };
}

interface Link {
  step: ExecutorStep;
  index: number;
  /** The recorded execution of the step. */
  known: RecordedStep;
  recorded: Origin;
  sample: ReplaySample;
  /** Results of the steps before it, replayed where they are in the range. */
  results: ReadonlyMap<string, StepView>;
}

/** What the next step sees of this one; null where the chain ends here. */
async function resultOf(deps: ReplayingDeps, run: ActiveRun, link: Link): Promise<StepView | null> {
  const { step, index, known, recorded, sample, results } = link;
  if (!asksAgent(step)) return known.view;
  const name = candidateName(step.name, sample.position);
  const earlier = run.results.get(name);
  const ended = earlier ? await deps.readStep(run.id, name) : null;
  const values = valuesWith(recorded, results, { at: known.startedAt });
  const candidate = ended ?? (await executeCandidate(deps, run, { step, family: step.name, name, index, values }));
  if (candidate === null) return run.results.get(name) ?? null;
  if (candidate.status === 'skipped') return stepView(candidate);
  return gradeOf(candidate) === 'completed' || gradeOf(candidate) === 'deterministic_failed'
    ? stepView(candidate)
    : null;
}

/** A recorded run that cannot be replayed stays in the report with its reason. */
async function leaveOut(deps: ReplayingDeps, run: ActiveRun, one: OneChain, reason: string): Promise<void> {
  const { replay, sample } = one;
  const message = `recorded run ${sample.sourceRunId} cannot be replayed: ${reason}`;
  run.journal.add('warn', 'replay_unreplayable', message, { sample: sample.position });
  await deps.step.flush(run, [
    deps.noteUnreplayable(run.id, sample.position, reason),
    deps.step.store.addCounters([countGrade(replay.fromStep, 'unreplayable')]),
  ]);
}
