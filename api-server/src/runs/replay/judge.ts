import type { ActiveRun } from '../state/active-run.ts';
import { gradeOf, type Judgement, type JudgeSkip, NO_JUDGEMENT } from '../state/replay.ts';
import { askJudge, type Judging } from './ask-judge.ts';
import type { ReplayingDeps } from './replay-deps.ts';

export const skippedBy = (skipped: JudgeSkip): Judgement => ({ ...NO_JUDGEMENT, skipped });

/** Asks the judge whether the candidate's answer is as good as the recorded one, and stores what it says. */
export async function judgeSample(deps: ReplayingDeps, run: ActiveRun, judging: Judging): Promise<void> {
  const { replay, sample, name } = judging;
  if (!replay.judge) return;
  // The candidate is stored before anyone else is asked: after a crash it is not asked again.
  await deps.step.flush(run, []);
  const skip = reasonToSkip(judging);
  const judgement = skip ? skippedBy(skip) : await askJudge(deps, run, { ...judging, judge: replay.judge });
  if (!judgement) return;
  const said = judgement.verdict ?? `no verdict: ${judgement.skipped}`;
  run.journal.add('info', 'replay_judged', `the judge on ${name}: ${said}`, { step_name: name, verdict: said });
  await deps.step.flush(run, [deps.noteJudgement(run.id, sample.position, judgement)]);
}

/** Only what was right before can be compared with; a label that is known already needs no verdict (Orchestration 3). */
function reasonToSkip({ sample, candidate, recorded }: Judging): JudgeSkip | null {
  if (recorded === null) return 'unreplayable';
  if (sample.outcome === null) return 'recorded_unlabelled';
  if (sample.outcome !== 'correct') return `recorded_${sample.outcome}`;
  const grade = gradeOf(candidate);
  return grade === 'completed' ? null : (grade ?? 'execution_failed');
}
