/** Whether a parsed JSON value nests deeper than `max` levels. Does not recurse. */
export function nestsDeeper(value: unknown, max: number): boolean {
  let level = isNested(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= max) return true;
    level = below(level);
  }
  return false;
}

/** The objects and arrays that lie directly in these; a loop, because it runs for every frame of `/rpc`. */
function below(level: readonly object[]): object[] {
  const found: object[] = [];
  for (const item of level) {
    for (const child of Object.values(item)) if (isNested(child)) found.push(child);
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

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [...'"\\,[{'].map((sign) => sign.charCodeAt(0));

/** The signs before values in a JSON text, outside its strings. */
export function valuesIn(text: string): number {
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) inString = !inString;
    else if (inString) at += char === BACKSLASH ? 1 : 0;
    else if (char === COMMA || char === BRACKET || char === BRACE) values += 1;
  }
  return values;
}
