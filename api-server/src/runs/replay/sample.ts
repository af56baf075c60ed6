import type { AgentStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { StepExecution } from '../state/model.ts';
import { candidateName, type ReplayMode } from '../state/replay.ts';
import type { StepKind } from '../state/step-kind.ts';
import { judgeSample, skippedBy } from './judge.ts';
import { fanOutOf, recordedValues, type Rebuilt } from './recorded-values.ts';
import type { OneSample, ReplayingDeps } from './replay-deps.ts';
import { countGrade, executeCandidate } from './execute.ts';

/** Replays one recorded execution, then asks the judge. What has ended before a restart is not asked again. */
export async function replaySample(deps: ReplayingDeps, run: ActiveRun, one: OneSample): Promise<void> {
  const { replay, sample } = one;
  const name = candidateName(replay.stepName, sample.position);
  const known = run.results.has(name);
  if (known && (replay.judge === null || sample.judgement !== null)) return;
  const recorded = sample.stepId === null ? null : await deps.readExecution(sample.stepId);
  const asked = { ...one, name, recorded };
  const candidate = known ? await deps.readStep(run.id, name) : await askCandidate(deps, run, asked);
  if (candidate === null || candidate.status === 'cancelled') return;
  await judgeSample(deps, run, { ...asked, candidate });
}

interface Asked extends OneSample {
  name: string;
  /** Null where it is gone. */
  recorded: StepExecution | null;
}

/** Null where the sample cannot be replayed. */
async function askCandidate(
  deps: ReplayingDeps,
  run: ActiveRun,
  { name, recorded, ...one }: Asked,
): Promise<StepExecution | null> {
  const step = run.pipeline.steps[0] as AgentStep;
  const question = await questionOf(deps, { mode: one.replay.mode, step, recorded });
  if (!question.ok) {
    await leaveOut(deps, run, { ...one, reason: question.reason });
    return null;
  }
  const { values, prompt } = question.value;
  const asking = prompt === null ? deps : { ...deps, step: { ...deps.step, kinds: verbatim(deps.kinds, prompt) } };
  return executeCandidate(asking, run, { step, family: one.replay.stepName, name, index: 0, values });
}

interface Question {
  values: Record<string, unknown>;
  /** The recorded prompt; null where the candidate's template is rendered. */
  prompt: string | null;
}

const GONE = { ok: false, reason: 'the recorded execution is gone' } as const;

interface Asking {
  mode: ReplayMode;
  step: AgentStep;
  recorded: StepExecution | null;
}

async function questionOf(deps: ReplayingDeps, { mode, step, recorded }: Asking): Promise<Rebuilt<Question>> {
  if (!recorded) return GONE;
  if (mode === 'rerender') {
    const values = await valuesOf(deps, recorded);
    return values.ok ? { ok: true, value: { values: values.value, prompt: null } } : values;
  }
  const prompt = recorded.rawResponse?.prompt;
  if (prompt === undefined) return { ok: false, reason: 'the recorded execution has no stored prompt' };
  // Only checks read beside it; without what they read their templates find nothing.
  const values = step.deterministic_checks.length > 0 ? await valuesOf(deps, recorded) : GONE;
  return { ok: true, value: { values: values.ok ? values.value : {}, prompt } };
}

/** What it saw. The recorded run is read for this alone: nothing holds it while the candidate is asked. */
async function valuesOf(deps: ReplayingDeps, step: StepExecution): Promise<Rebuilt<Record<string, unknown>>> {
  const recorded = await deps.readRecorded({ runId: step.runId, fanOut: fanOutOf(step) });
  return recorded ? recordedValues(recorded, step) : GONE;
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
