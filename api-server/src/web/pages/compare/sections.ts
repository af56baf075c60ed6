import type { StepComparison } from '../../../service/views/comparison.ts';
import type { StepDetail } from '../../../service/views/step.ts';
import type { Budget } from '../diff/budget.ts';
import { diffLines } from '../diff/diff-lines.ts';
import { patchLines } from '../diff/patch-lines.ts';
import { sideBySide } from '../diff/side-by-side.ts';

/** A text of both runs, side by side where they differ. */
export interface Section {
  title: string;
  note: string | null;
  sides: ReturnType<typeof sidesOf> | null;
}

const DIFF_MS = 25;

/** Null where neither run has a prompt. */
export function promptSection({ a, b, same_prompt }: StepComparison, budget: Budget): Section | null {
  const [before, after] = [promptOf(a), promptOf(b)];
  if (before === null || after === null) return onlyOne('Prompt', 'a prompt', [before !== null, after !== null]);
  if (before === after) return said('Prompt', 'Both were asked with the same prompt.');
  const lines = diffLines(before, after, budget.hasTime() ? DIFF_MS : 0);
  if (lines === null) return said('Prompt', 'The two prompts differ too much to be shown side by side.');
  const why = same_prompt === true ? 'The same template with other values.' : null;
  return { title: 'Prompt', note: why, sides: sidesOf('Prompts of both runs', lines, budget) };
}

/** Null where neither run has an answer. */
export function answerSection({ a, b, output_diff: diff }: StepComparison, budget: Budget): Section | null {
  if (diff === null) return onlyOne('Answer', 'an answer', [hasAnswered(a), hasAnswered(b)]);
  if (diff === '') return said('Answer', 'Both answered the same.');
  return { title: 'Answer', note: null, sides: sidesOf('Answers of both runs', patchLines(diff, 'one'), budget) };
}

const promptOf = (step: StepDetail | null) => step?.raw_response?.prompt ?? null;
const hasAnswered = (step: StepDetail | null) => step !== null && (step.summary !== null || step.output !== null);

const said = (title: string, note: string): Section => ({ title, note, sides: null });

function onlyOne(title: string, what: string, [a, b]: readonly [boolean, boolean]): Section | null {
  return a || b ? said(title, `Only ${a ? 'A' : 'B'} has ${what}.`) : null;
}

function sidesOf(caption: string, lines: Parameters<typeof sideBySide>[0], budget: Budget) {
  const { rows, cut } = sideBySide(lines, budget);
  const more = 'The page has no room for the rest; the pages of the two runs show each text whole.';
  return { caption, left: 'A', right: 'B', rows, cut: cut ? more : null };
}
