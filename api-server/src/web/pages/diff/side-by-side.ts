import { diffWordsWithSpace } from 'diff';
import type { Budget } from './budget.ts';
import type { DiffLine } from './diff-lines.ts';

interface Part {
  text: string;
  /** What the other side does not have. */
  changed: boolean;
}

interface Side {
  look: 'added' | 'removed' | 'kept' | 'none';
  parts: Part[];
}

export interface SideRow {
  /** Where the next lines stand; null for lines. */
  gap: string | null;
  left: Side;
  right: Side;
}

export interface SideBySide {
  rows: SideRow[];
  /** The page had no room for the rest. */
  cut: boolean;
}

const NONE: Side = { look: 'none', parts: [] };
/** Words are compared in lines up to here; finding them takes the square of the changes. */
const MOST_CHARS = 4000;
const MOST_CHANGES = 150;
/** Below this share of equal text two lines are different ones, and marks would only be noise. */
const LEAST_EQUAL = 0.3;

/** The lines of a diff in two columns: a removed line beside the added one in its place, with the changed words marked. */
export function sideBySide(lines: readonly DiffLine[], budget: Budget): SideBySide {
  const rows: SideRow[] = [];
  for (const { gap, removed, added } of paired(lines)) {
    if (!budget.take(`${gap ?? ''}${removed ?? ''}${added ?? ''}`)) return { rows, cut: true };
    if (gap !== undefined) rows.push({ gap, left: NONE, right: NONE });
    else if (removed === added) rows.push(kept(added ?? ''));
    else rows.push({ gap: null, ...pair(removed, added, budget) });
  }
  return { rows, cut: false };
}

interface Pair {
  gap?: string;
  removed?: string | undefined;
  added?: string | undefined;
}

/** A line that both texts have is its own pair. */
function paired(lines: readonly DiffLine[]): Pair[] {
  const found: Pair[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] as DiffLine;
    const removed = following(lines, at, '-');
    const added = following(lines, at + removed.length, '+');
    const changed = Math.max(removed.length, added.length);
    if (changed === 0) found.push(line.sign === '…' ? { gap: line.text } : { removed: line.text, added: line.text });
    for (let n = 0; n < changed; n += 1) found.push({ removed: removed[n], added: added[n] });
    at += removed.length + added.length || 1;
  }
  return found;
}

function following(lines: readonly DiffLine[], from: number, sign: '-' | '+'): string[] {
  let end = from;
  while (lines[end]?.sign === sign) end += 1;
  return lines.slice(from, end).map(({ text }) => text);
}

const kept = (text: string): SideRow => {
  const side: Side = { look: 'kept', parts: [{ text, changed: false }] };
  return { gap: null, left: side, right: side };
};

function pair(removed: string | undefined, added: string | undefined, budget: Budget): Pick<SideRow, 'left' | 'right'> {
  if (removed === undefined) return { left: NONE, right: whole('added', added ?? '') };
  if (added === undefined) return { left: whole('removed', removed), right: NONE };
  return words(removed, added, budget) ?? { left: whole('removed', removed), right: whole('added', added) };
}

const whole = (look: Side['look'], text: string): Side => ({ look, parts: [{ text, changed: false }] });

/** Null where the lines have too little in common, or finding it takes too long. */
function words(removed: string, added: string, budget: Budget): Pick<SideRow, 'left' | 'right'> | null {
  if (!budget.hasTime() || removed.length + added.length > MOST_CHARS) return null;
  const changes = diffWordsWithSpace(removed, added, { maxEditLength: MOST_CHANGES });
  if (changes === undefined) return null;
  const equal = changes.filter((change) => !change.added && !change.removed);
  const length = equal.reduce((sum, { value }) => sum + value.trim().length, 0);
  if (length < LEAST_EQUAL * Math.max(removed.length, added.length)) return null;
  const parts = (side: 'added' | 'removed') =>
    changes
      .filter((change) => change[side] || !(change.added || change.removed))
      .map((change) => ({ text: change.value, changed: change[side] }));
  return { left: { look: 'removed', parts: parts('removed') }, right: { look: 'added', parts: parts('added') } };
}
