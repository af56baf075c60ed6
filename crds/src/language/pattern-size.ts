const QUOTED = /\\Q[^]*?(?:\\E|$)/uy;
const PROPERTY = /\\[pP]\{[^}]*\}/uy;
const SETS = String.raw`\[:\^?[a-z]{1,9}:\]|\\[pP](?:\{[^}]{0,64}\}|.)|\\[dDsSwW]`;
const ENDS = String.raw`(?:\\[^]|[^\]\\])`;
/** A first `]` is one of its characters, as is the `[` after a `-`. Its parts are read in one way only. */
const CLASS = new RegExp(
  String.raw`\[\^?(?:\](?:-${ENDS})?)?(?=(?<parts>(?:${SETS}|${ENDS}(?:-${ENDS})?)*))\k<parts>\]`,
  'uy',
);
const FLAGS = /\(\?[imsU-]*\)/uy;
/** With a zero before its numbers it is text. */
const REPETITION = /\{(?<least>0|[1-9]\d*)(?:,(?<most>0|[1-9]\d*)?)?\}/uy;
const ESCAPE = /\\(?:[pP].|x\{[0-9a-fA-F]+\}|[^])/uy;
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
  if (source[at] === '(') return FLAGS;
  if (source[at] === '{') return REPETITION;
  if (source.startsWith('\\Q', at)) return QUOTED;
  return /^\\[pP]\{/.test(source.slice(at, at + 3)) ? PROPERTY : ESCAPE;
}

/** Characters of a pattern; a longer one is not compiled, and not looked at. */
export const MAX_PATTERN_SOURCE = 1000;

/**
 * About how many instructions a pattern has with its repetitions written out, from its text alone: to compile a hundred thousand
 * takes a third of a second. What its classes take once counts as if it were instructions.
 */
export const patternSize = (source: string): number =>
  source.length > MAX_PATTERN_SOURCE ? source.length : instructionsIn(source) + classesIn(source);

/** What is larger is far too large; its own repetitions stay numbers. */
const HUGE = 1e9;

function instructionsIn(source: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const part of partsOf(source).filter(isSomething)) {
    const [token] = part;
    const times = timesOf(part);
    if (token === '(') {
      open.push(size);
      size = 0;
      last = 0;
    } else if (token === ')') {
      last = size + 2;
      size = (open.pop() ?? 0) + last;
    } else if (times !== null) {
      last = Math.max(1, last);
      size += last * (times - 1);
      last = Math.min(HUGE, last * times);
    } else {
      last = '*+?'.includes(token) ? last + 1 : 1;
      size += token.startsWith('\\Q') ? token.length : 1;
    }
  }
  return open.reduce((sum, outer) => sum + outer, size);
}

/** A repetition behind an empty quote or behind flags repeats what stands before them. */
const isSomething = ([token]: RegExpExecArray): boolean => token !== '\\Q\\E' && !/^\(.*\)$/.test(token);

function timesOf({ groups: { least, most } = {} }: RegExpExecArray): number | null {
  return least === undefined ? null : Math.min(HUGE, Math.max(1, Number(least), Number(most ?? 0)));
}

/** A class of Unicode is a table of hundreds of ranges. */
const UNICODE_CLASS = /\\[pP]/g;
const UNICODE_SIZE = 20;
/** Without regard to case it is one of all characters that fold into it. */
const FOLDED_UNICODE_SIZE = 80;

const FOLDS = /\(\?[imsU-]*i/;
/** Without regard to case each character of a range is looked up, so many in the time of an instruction. */
const FOLDED_SIZE = 64;
const LAST_FOLDED = 0x1e943;

const ESCAPED = String.raw`\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}`;
/** What may be a range, in a class or not. A backslash before its first end may itself be escaped. */
const RANGE = new RegExp(String.raw`(?<=((?<=(?<!\\)(?:\\\\)*)(?:${ESCAPED})|[^]))-(?=(${ESCAPED}|\\?[^]))`, 'gu');

function classesIn(source: string): number {
  const tables = source.match(UNICODE_CLASS)?.length ?? 0;
  if (!FOLDS.test(source)) return UNICODE_SIZE * tables;
  const folded = Iterator.from(source.matchAll(RANGE)).reduce((sum, [, low = '', high = '']) => {
    return sum + Math.max(0, Math.min(codeOf(high), LAST_FOLDED) - codeOf(low));
  }, 0);
  return FOLDED_UNICODE_SIZE * tables + Math.ceil(folded / FOLDED_SIZE);
}

function codeOf(end: string): number {
  const [, hex, octal] = /^\\(?:x\{?([0-9a-fA-F]+)|([0-7]+))/.exec(end) ?? [];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  return octal === undefined ? (end.replace(/^\\(?=[^])/, '').codePointAt(0) ?? 0) : Number.parseInt(octal, 8);
}

/** What the repetitions and the classes of a pattern add to its text. */
export const repetitionsIn = (pattern: string): number => Math.max(0, patternSize(pattern) - pattern.length);
