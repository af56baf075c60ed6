import { Lexer } from 'yaml';

/** Limits of one definition. */
export const MAX_YAML_BYTES = 256 * 1024;
export const MAX_YAML_NODES = 10_000;
export const MAX_YAML_DEPTH = 64;
const MAX_MARKS = 3 * MAX_YAML_NODES;
/** Each is an error of its own, where every other error takes a mark. */
const MAX_BAD_ESCAPES = 1000;

export interface SizeProblem {
  msg: string;
  line: number;
  reason: 'syntax' | 'too_large';
}

/** Counts what the lexer finds, which costs no tree: the composer needs seconds for what this refuses in milliseconds. */
export function checkSize(text: string): SizeProblem | null {
  if (text.length > MAX_YAML_BYTES || Buffer.byteLength(text, 'utf8') > MAX_YAML_BYTES)
    return { line: 1, msg: `is larger than ${MAX_YAML_BYTES / 1024} KiB`, reason: 'too_large' };
  const count = {
    nodes: 0,
    marks: 0,
    badEscapes: 0,
    badIndent: false,
    depth: 0,
    line: 1,
    lineIndicators: 0,
    inScalar: false,
  };
  for (const lexeme of new Lexer().lex(text)) {
    countLexeme(lexeme, count);
    const excess = EXCESSES.find(({ isReached }) => isReached(count));
    if (excess) return { line: count.line, msg: excess.msg, reason: excess.reason };
  }
  return null;
}

interface Count {
  nodes: number;
  /** Everything but spaces, comments and the text of scalars; the end of a line is one too, as it costs what a mark does. */
  marks: number;
  badEscapes: number;
  /** With it each line of the text is an error. */
  badIndent: boolean;
  depth: number;
  line: number;
  lineIndicators: number;
  inScalar: boolean;
}

interface Excess {
  msg: string;
  reason: SizeProblem['reason'];
  isReached: (count: Count) => boolean;
}

/** A closing bracket without an opening one is refused here too: the parser's recovery from many of them is quadratic. */
const EXCESSES: readonly Excess[] = [
  {
    msg: `has more than ${MAX_YAML_NODES} nodes`,
    reason: 'too_large',
    isReached: ({ nodes }) => nodes > MAX_YAML_NODES,
  },
  {
    msg: `has more than ${MAX_MARKS} marks and lines`,
    reason: 'too_large',
    isReached: ({ marks }) => marks > MAX_MARKS,
  },
  {
    msg: `is nested deeper than ${MAX_YAML_DEPTH} levels`,
    reason: 'too_large',
    isReached: ({ depth, lineIndicators }) => Math.max(depth, lineIndicators) > MAX_YAML_DEPTH,
  },
  {
    msg: `has more than ${MAX_BAD_ESCAPES} escapes in double quotes that YAML does not know`,
    reason: 'syntax',
    isReached: ({ badEscapes }) => badEscapes > MAX_BAD_ESCAPES,
  },
  {
    msg: 'a text after | or > has an indentation of more than one digit',
    reason: 'syntax',
    isReached: ({ badIndent }) => badIndent,
  },
  { msg: 'a closing bracket has no opening one', reason: 'syntax', isReached: ({ depth }) => depth < 0 },
];

const DEPTH: Record<string, number> = { '[': 1, '{': 1, ']': -1, '}': -1 };
const SCALAR = '\u001F';

/** `- - - x` opens a level an indicator: a line's own indicators are depth; deep indentation is found when values are read. */
function countLexeme(lexeme: string, count: Count): void {
  const first = lexeme[0] ?? '';
  if (count.inScalar) {
    count.inScalar = false;
    count.line += lexeme.split('\n').length - 1;
    return;
  }
  count.inScalar = lexeme === SCALAR;
  if (!' \t#'.includes(first)) count.marks++;
  if (first === '"') count.badEscapes += badEscapesIn(lexeme);
  count.badIndent ||= BAD_INDENT.test(lexeme);
  if (`${SCALAR}*"'[{-?`.includes(first)) count.nodes++;
  countLevels(lexeme, count);
  if (first !== '\n' && first !== '\r') return;
  count.line++;
  count.lineIndicators = 0;
}

const BAD_INDENT = /^[|>]\D*\d\D*\d/;

const HEX = '[0-9a-fA-F]';
const KNOWN_ESCAPE = new RegExp(
  String.raw`\\(?:[0abefnrtvN_LP "/\\\t\n]|\r\n|x${HEX}{2}|u${HEX}{4}|U00(?:0${HEX}|10)${HEX}{4})`,
  'g',
);
const badEscapesIn = (quoted: string): number => quoted.replaceAll(KNOWN_ESCAPE, '').split('\\').length - 1;

function countLevels(lexeme: string, count: Count): void {
  count.depth += DEPTH[lexeme] ?? 0;
  if (lexeme === '-' || lexeme === '?') count.lineIndicators++;
}
