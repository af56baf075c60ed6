import type { ActiveRun } from '../state/active-run.ts';
import { cutText } from '../state/field-sizes.ts';
import { heldView } from '../state/held.ts';
import type { Answer } from '../state/step-kind.ts';
import type { AnswerRoom } from './answer-room.ts';
import type { Begun, Ending } from '../evidence/step-execution.ts';

const LEVELS = {
  completed: 'info',
  failed: 'error',
  stopped: 'warn',
  escalated: 'warn',
  aborted: 'warn',
  cancelled: 'warn',
} as const;

const SHORT_BYTES = 4096;

/** What a step keeps of the answer of an earlier iteration. */
export const shortOf = ({ confidence, summary }: Answer) => ({
  confidence,
  summary: summary && cutText(summary, SHORT_BYTES),
});

export function noteIteration({ run, name, iteration }: Begun, { confidence }: Answer): void {
  const message = `${name} answered with confidence ${confidence}; iteration ${iteration} starts`;
  run.journal.add('info', 'step_iteration', message, { step_name: name, iteration });
}

const NO_RESULT = { summary: null, confidence: null, output: {}, nextStepContext: null };

/** What a run keeps in memory of an ended step, and the line in its log. */
export function noteEnd(answers: AnswerRoom, { run, name, kind, costs }: Begun, ending: Ending): void {
  const { status, answer = NO_RESULT, report = null } = ending;
  const { summary, confidence, output, nextStepContext = null } = answer;
  const trust = report && report.trust;
  run.results.set(name, heldView({ status, summary, confidence, trust, output, next_step_context: nextStepContext }));
  answers.note(run, name);
  // They are among its warnings now.
  run.blanks.delete(name);
  const gated = kind === 'step' && report !== null && report.passed !== null;
  if (gated) Object.assign(run, { trust: report.trust, threshold: report.threshold });
  if (costs.some(({ cost }) => cost === null)) run.totals.unpricedSteps += 1;
  noteLine(run, name, { ...ending, word: kind === 'step' ? `step_${status}` : `branch_${status}` });
}

/** Entries end one after the other, branches at any time. */
export const endTime = ({ run, kind }: Pick<Begun, 'run' | 'kind'>, now: number): number =>
  kind === 'step' ? now : run.results.endAt(now);

function noteLine(
  run: ActiveRun,
  name: string,
  { status, error, answer, report, word }: Ending & { word: string },
): void {
  const message = error ? `${name} ${status}: ${error.message}` : `${name} completed`;
  run.journal.add(LEVELS[status], word, message, {
    step_name: name,
    confidence: answer ? answer.confidence : null,
    trust: report ? report.trust : null,
    threshold: report ? report.threshold : null,
    ...(error ? { error_type: error.type } : {}),
  });
}

/** A step that did not run leaves an empty result, so that later templates find its name. */
export function noteSkip(run: ActiveRun, name: string, why = 'its condition does not hold'): void {
  const nothing = { summary: null, confidence: null, trust: null, output: {}, next_step_context: null };
  run.results.set(name, { status: 'skipped', ...nothing });
  run.journal.add('info', 'step_skipped', `${name} skipped: ${why}`, { step_name: name });
}
