import Handlebars from 'handlebars';

const MAX_NESTING = 32;
const MAX_BLOCKS = 1000;
export const TOO_NESTED = `blocks and calls may be nested ${MAX_NESTING} deep, blocks ${MAX_BLOCKS} in all`;

type Token = 'OPEN_BLOCK' | 'OPEN_INVERSE' | 'OPEN_INVERSE_CHAIN' | 'OPEN_ENDBLOCK' | 'OPEN_PARTIAL_BLOCK';

/** The lexer of Handlebars' generated parser, with the numbers of its tokens; the package has no types for it. */
interface Lexer {
  yy: object;
  setInput(text: string): void;
  lex(): number | string;
}
const { lexer: shared, symbols_: tokens } = (
  Handlebars as unknown as {
    Parser: { lexer: Lexer; symbols_: Record<Token | 'OPEN_SEXPR' | 'CLOSE_SEXPR' | 'EOF' | '$end', number> };
  }
).Parser;
const BLOCKS = new Set<number | string>([tokens.OPEN_BLOCK, tokens.OPEN_INVERSE, tokens.OPEN_PARTIAL_BLOCK]);

/**
 * Handlebars' parser takes half a minute for some thousand open blocks or calls, so they are counted first. Only its lexer surely
 * tells them from what looks like them in a text, a comment or a string. Throws where it cannot read on.
 */
export function isTooNested(source: string): boolean {
  if (!mayBeDeep(source, '{{') && !mayBeDeep(source, '(')) return false;
  const lexer = Object.assign(Object.create(shared) as Lexer, { yy: {} });
  lexer.setInput(source);
  const count = { open: [], blocks: 0, depth: 0, calls: 0 };
  for (let token = lexer.lex(); token !== tokens.EOF && token !== tokens.$end; token = lexer.lex()) {
    countToken(token, count);
    if (Math.max(count.depth, count.calls) > MAX_NESTING || count.blocks > MAX_BLOCKS) return true;
  }
  return false;
}

const mayBeDeep = (source: string, mark: string): boolean =>
  source.split(mark, MAX_NESTING + 2).length > MAX_NESTING + 1;

interface Count {
  /** Levels that end with each open block: every `else if` of it is a block inside the one before. */
  open: number[];
  blocks: number;
  depth: number;
  calls: number;
}

function countToken(token: number | string, count: Count): void {
  const isChain = token === tokens.OPEN_INVERSE_CHAIN;
  if (BLOCKS.has(token) || isChain) {
    count.open.push(isChain ? (count.open.pop() ?? 0) + 1 : 1);
    count.blocks++;
    count.depth++;
  }
  if (token === tokens.OPEN_ENDBLOCK) count.depth -= count.open.pop() ?? 0;
  if (token === tokens.OPEN_SEXPR) count.calls++;
  if (token === tokens.CLOSE_SEXPR) count.calls--;
}
