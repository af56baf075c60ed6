import { repetitionsIn } from './pattern-size.ts';

/** What the patterns of a definition may still add to their texts. To compile all takes a fifth of a second. */
export interface PatternRoom {
  left: number;
}
const MAX_REPETITIONS = 50_000;
export const patternRoom = (): PatternRoom => ({ left: MAX_REPETITIONS });

/** Why a pattern, or those of a schema, may not be compiled besides those before; null where they may. */
export function roomProblem(room: PatternRoom, patterns: readonly string[]): string | null {
  const own = patterns.reduce((sum, pattern) => sum + repetitionsIn(pattern), 0);
  room.left -= own;
  return own > 0 && room.left < 0
    ? `the patterns up to here are too large: repetitions and classes add more than ${MAX_REPETITIONS} instructions`
    : null;
}
