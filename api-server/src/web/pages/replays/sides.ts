import type { Budget } from '../diff/budget.ts';
import { diffLines } from '../diff/diff-lines.ts';
import { sideBySide } from '../diff/side-by-side.ts';

const DIFF_MS = 25;

type Names = readonly [string, string];
const columnsOf = ([left, right]: Names) => ({ caption: `${left}, ${right}`, left, right });

/** Two texts for which a page has no time left. */
export const unread = (names: Names) => ({
  ...columnsOf(names),
  rows: [],
  cut: 'The page had no time for these two; the page of the run shows each answer whole.',
});

/** Two texts side by side, with the names of both columns. */
export function sides(columns: Names, [a, b]: readonly [string, string], budget: Budget) {
  const lines = diffLines(a, b, budget.hasTime() ? DIFF_MS : 0);
  const names = columnsOf(columns);
  if (lines === null) return { ...names, rows: [], cut: 'The two texts differ too much to be shown side by side.' };
  const { rows, cut } = sideBySide(lines, budget);
  return {
    ...names,
    rows,
    cut: cut ? 'The page has no room for the rest; the page of the run shows each answer whole.' : null,
  };
}
