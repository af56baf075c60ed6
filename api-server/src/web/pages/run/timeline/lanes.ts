import { inOrder, type Part } from './part.ts';

export interface Placed {
  part: Part;
  /** Counted from the top. */
  lane: number;
}

/** Stored times are whole milliseconds: what overlaps by less follows. */
const ROUNDING = 2;

/** Puts what overlaps in time on lanes below each other; what holds others lies behind all lanes. */
export function lanesOf(parts: readonly Part[], now: number): { placed: Placed[]; behind: Part[]; lanes: number } {
  const ends: number[] = [];
  const behind = parts.filter(({ holds }) => holds);
  const placed = inOrder(parts.filter(({ holds }) => !holds)).map((part) => {
    const free = ends.findIndex((end) => end <= part.from + ROUNDING);
    const lane = free === -1 ? ends.length : free;
    ends[lane] = part.to ?? now;
    return { part, lane };
  });
  return { placed, behind, lanes: Math.max(1, ends.length) };
}
