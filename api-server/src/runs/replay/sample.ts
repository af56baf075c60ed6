import type { AgentStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { StepExecution } from '../state/model.ts';
import { candidateName, type RecordedRun, type ReplaySample, type StepReplay } from '../state/replay.ts';
import type { StepKind } from '../state/step-kind.ts';
import { judgeSample, skippedBy } from './judge.ts';
import { recordedValues, type Rebuilt } from './recorded-values.ts';
import type { OneSample, ReplayingDeps } from './replay-deps.ts';
import { countGrade, executeCandidate } from './execute.ts';

/** Replays one recorded execution, then asks the judge. What has ended before a restart is not asked again. */
export async function replaySample(deps: ReplayingDeps, run: ActiveRun, one: OneSample): Promise<void> {
  const { replay, sample } = one;
  const name = candidateName(replay.stepName, sample.position);
  const known = run.results.has(name);
  if (known && (replay.judge === null || sample.judgement !== null)) return;
  const found = await readSample(deps, sample);
  const candidate = known ? await deps.readStep(run.id, name) : await askCandidate(deps, run, { ...one, name, found });
  if (candidate === null || candidate.status === 'cancelled') return;
  await judgeSample(deps, run, { ...one, name, candidate, recorded: found && found.step });
}

interface Found {
  recorded: RecordedRun;
  step: StepExecution;
}

/** Null where the recorded execution is gone. */
async function readSample(deps: ReplayingDeps, { stepId }: ReplaySample): Promise<Found | null> {
  const recorded = stepId === null ? null : await deps.readRecorded({ stepId });
  const step = recorded?.steps.find(({ id }) => id === stepId);
  return recorded && step ? { recorded, step } : null;
}

/** Null where the sample cannot be replayed. */
async function askCandidate(
  deps: ReplayingDeps,
  run: ActiveRun,
  { name, found, ...one }: OneSample & { name: string; found: Found | null },
): Promise<StepExecution | null> {
  const question: Rebuilt<Question> = found
    ? questionOf(one.replay, recordedValues(found.recorded, found.step), found.step)
    : { ok: false, reason: 'the recorded execution is gone' };
  if (!question.ok) {
    await leaveOut(deps, run, { ...one, reason: question.reason });
    return null;
  }
  const { values, prompt } = question.value;
  const step = run.pipeline.steps[0] as AgentStep;
  const asking = prompt === null ? deps : { ...deps, step: { ...deps.step, kinds: verbatim(deps.kinds, prompt) } };
  return executeCandidate(asking, run, { step, family: one.replay.stepName, name, index: 0, values });
}

interface Question {
  values: Record<string, unknown>;
  /** The recorded prompt; null where the candidate's template is rendered. */
  prompt: string | null;
}

function questionOf(
  { mode }: StepReplay,
  values: Rebuilt<Record<string, unknown>>,
  { rawResponse }: StepExecution,
): Rebuilt<Question> {
  if (mode === 'rerender') return values.ok ? { ok: true, value: { values: values.value, prompt: null } } : values;
  const prompt = rawResponse?.prompt;
  if (prompt === undefined) return { ok: false, reason: 'the recorded execution has no stored prompt' };
  // Checks may read the context; without it their templates find nothing.
  return { ok: true, value: { values: values.ok ? values.value : {}, prompt } };
}

/** Agents that are sent the recorded prompt to the letter. */
const verbatim = (kinds: ReadonlyMap<string, StepKind>, prompt: string): ReadonlyMap<string, StepKind> =>
  new Map(
    [...kinds].map(([name, kind]) => [
      name,
      { ...kind, prepare: (ctx, earlier) => kind.prepare(ctx, earlier ?? { prompt }) } satisfies StepKind,
    ]),
  );

/** A sample that cannot be replayed stays in the report with its reason. */
async function leaveOut(
  deps: ReplayingDeps,
  run: ActiveRun,
  { replay, sample, reason }: OneSample & { reason: string },
): Promise<void> {
  const message = `sample ${sample.position} cannot be replayed: ${reason}`;
  run.journal.add('warn', 'replay_unreplayable', message, { step_name: replay.stepName, sample: sample.position });
  const writes = [
    deps.noteUnreplayable(run.id, sample.position, reason),
    deps.step.store.addCounters([countGrade(replay.stepName, 'unreplayable')]),
  ];
  if (replay.judge) writes.push(deps.noteJudgement(run.id, sample.position, skippedBy('unreplayable')));
  await deps.step.flush(run, writes);
}
