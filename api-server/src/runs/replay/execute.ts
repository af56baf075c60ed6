import type { AgentStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { EndedStep } from '../state/model.ts';
import type { Counter } from '../state/records.ts';
import { type Grade, gradeOf } from '../state/replay.ts';
import { runStep } from '../step/step.ts';
import type { ReplayingDeps } from './replay-deps.ts';

export interface Executing {
  step: AgentStep;
  /** The step whose candidate this is. */
  family: string;
  /** Of the candidate's row. */
  name: string;
  index: number;
  /** What its templates see: of the recorded run, not of the batch. */
  values: Record<string, unknown>;
}

export const countGrade = (stepName: string, grade: Grade): Counter => ({
  metric: 'replay_steps_total',
  labels: [stepName, grade],
  value: 1,
});

/**
 * Asks the candidate under the name of its row and counts its grade; null where its condition does not hold. Its edition
 * is not noted as one in use.
 */
export async function executeCandidate(
  deps: ReplayingDeps,
  run: ActiveRun,
  { step, family, name, index, values }: Executing,
): Promise<EndedStep | null> {
  let candidate: EndedStep | null = null;
  // Called with the end of the row: the grade is stored in the same transaction.
  const noteUse = (ended: EndedStep) => {
    candidate = ended;
    const grade = gradeOf(ended);
    if (grade) run.pending.push(deps.step.store.addCounters([countGrade(family, grade)]));
  };
  const { span, slot, controller } = run;
  const place = { run, step, name, index, kind: 'fan_out_branch' as const, span, slot, signal: controller.signal };
  await runStep({ ...deps.step, noteUse }, { ...place, locals: values });
  return candidate;
}
