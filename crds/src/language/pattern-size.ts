const PROPERTY = /\\[pP]\{[^}]*\}/uy;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/uy;
const REPETITION = /\{(\d+)(?:,(\d*))?\}/uy;
const ESCAPE = /\\(?:[pP].|[^])/uy;
const ANY = /[^]/uy;

/** The parts of a pattern. What is not closed once is closed nowhere behind it either, so that it is looked for once. */
function* partsOf(source: string): Generator<RegExpExecArray> {
  const unclosed = new Set<RegExp>();
  const read = (part: RegExp, at: number): RegExpExecArray | null => {
    if (unclosed.has(part)) return null;
    part.lastIndex = at;
    const found = part.exec(source);
    if (found === null && (part === CLASS || part === PROPERTY)) unclosed.add(part);
    return found;
  };
  for (let at = 0; at < source.length;) {
    const part = read(special(source, at), at) ?? read(ESCAPE, at) ?? read(ANY, at);
    if (part === null) return;
    yield part;
    at += part[0].length;
  }
}

/** What may begin at a place that is more than a character. */
function special(source: string, at: number): RegExp {
  if (source[at] === '[') return CLASS;
  if (source[at] === '{') return REPETITION;
  return /^\\[pP]\{/.test(source.slice(at, at + 3)) ? PROPERTY : ESCAPE;
}

/**
 * About how many instructions a pattern has with its repetitions written out, from its text alone: to compile a hundred thousand
 * takes a third of a second.
 */
export function patternSize(source: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const [token, least, most] of partsOf(source)) {
    if (token === '(') {
      open.push(size);
      size = 0;
      last = 0;
    } else if (token === ')') {
      last = size + 2;
      size = (open.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0));
      size += last * (times - 1);
      last *= times;
    } else {
      last = 1;
      size += 1;
    }
  }
  return open.reduce((sum, outer) => sum + outer, size);
}

/** What the repetitions in a text add to it. */
export const repetitionsIn = (text: string): number => Math.max(0, patternSize(text) - text.length);
