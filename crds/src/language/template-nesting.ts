import { type Token, TOKENS, tokensOf } from './template-tokens.ts';

const MAX_NESTING = 32;
const MAX_BLOCKS = 1000;
export const TOO_NESTED = `blocks and calls may be nested ${MAX_NESTING} deep, blocks ${MAX_BLOCKS} in all`;

const BLOCKS = new Set<Token>([TOKENS.OPEN_BLOCK, TOKENS.OPEN_INVERSE, TOKENS.OPEN_PARTIAL_BLOCK]);

/**
 * Handlebars' parser takes half a minute for some thousand open blocks or calls, so they are counted first. Throws where
 * its lexer cannot read on.
 */
export function isTooNested(source: string): boolean {
  if (!mayBeDeep(source, '{{') && !mayBeDeep(source, '(')) return false;
  const count = { open: [], blocks: 0, depth: 0, calls: 0 };
  for (const token of tokensOf(source)) {
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

function countToken(token: Token, count: Count): void {
  const isChain = token === TOKENS.OPEN_INVERSE_CHAIN;
  if (BLOCKS.has(token) || isChain) {
    count.open.push(isChain ? (count.open.pop() ?? 0) + 1 : 1);
    count.blocks++;
    count.depth++;
  }
  if (token === TOKENS.OPEN_ENDBLOCK) count.depth -= count.open.pop() ?? 0;
  if (token === TOKENS.OPEN_SEXPR) count.calls++;
  if (token === TOKENS.CLOSE_SEXPR) count.calls--;
}
