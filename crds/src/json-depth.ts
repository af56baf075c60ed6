/** Whether a parsed JSON value nests deeper than `max` levels. Does not recurse. */
export const nestsDeeper = (value: unknown, max: number): boolean => depthOf(value, max) > max;

/** How many levels a parsed JSON value has; where it has more than `max`, one more than that. Does not recurse. */
export function depthOf(value: unknown, max: number): number {
  let level = isNested(value) ? [value] : [];
  let depth = 0;
  for (; level.length > 0 && depth <= max; depth++) level = below(level);
  return depth;
}

/** The objects and arrays that lie directly in these; loops, because it runs for every frame of `/rpc`, and `Object.values` is slow where there are many. */
function below(level: readonly object[]): object[] {
  const found: object[] = [];
  const look = (child: unknown) => void (isNested(child) && found.push(child));
  for (const item of level) {
    if (Array.isArray(item)) for (const child of item) look(child);
    else for (const key of Object.keys(item)) look((item as Record<string, unknown>)[key]);
  }
  return found;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a parsed JSON value is made of more than `max` values, itself included. Does not recurse, and does not read on. */
export function holdsMore(value: unknown, max: number): boolean {
  const seen = [value];
  for (const item of seen) {
    const children: unknown[] = isNested(item) ? Object.values(item) : [];
    if (seen.length + children.length > max) return true;
    for (const child of children) seen.push(child);
  }
  return false;
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, COLON] = [...'"\\,[{:'].map((sign) => sign.charCodeAt(0));

/** The signs before values in a JSON text, outside its strings; with those behind names. */
export const valuesIn = (text: string, withNames?: boolean): number => createValueCounter(withNames)(text);

/** Counts them in a JSON text that comes in pieces: in each of them those that it has. */
export function createValueCounter(withNames?: boolean): (piece: string) => number {
  let wasInString = false;
  /** Signs of the next piece that an escape in this one took. */
  let taken = 0;
  return (piece) => {
    let values = 0;
    let inString = wasInString;
    let at = taken;
    for (; at < piece.length; at++) {
      const char = piece.charCodeAt(at);
      if (char === QUOTE) inString = !inString;
      else if (inString) at += char === BACKSLASH ? 1 : 0;
      else if (char === COMMA || char === BRACKET || char === BRACE || (withNames && char === COLON)) values += 1;
    }
    [wasInString, taken] = [inString, at - piece.length];
    return values;
  };
}
