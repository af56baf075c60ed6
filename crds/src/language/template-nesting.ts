import Handlebars from 'handlebars';

const MAX_NESTING = 32;
const MAX_BLOCKS = 1000;
export const TOO_NESTED = `blocks and calls may be nested ${MAX_NESTING} deep, blocks ${MAX_BLOCKS} in all`;

/** Handlebars' parser takes half a minute for some thousand open blocks or calls, so they are counted in the text first. */
export const isTooNested = (source: string): boolean => hasDeepBlocks(source) || hasDeepCalls(source);

/** Each `else if` of a block is a block inside the one before. */
function hasDeepBlocks(source: string): boolean {
  const open: number[] = [];
  let depth = 0;
  let blocks = 0;
  for (const [, mark] of source.matchAll(/\{\{~?\s*(\{\{|[#^/]|else\b)(?!\s*~?\}\})/g)) {
    if (mark === '/') {
      depth -= open.pop() ?? 0;
      continue;
    }
    open.push(mark === 'else' ? (open.pop() ?? 0) + 1 : 1);
    depth++;
    blocks++;
    if (depth > MAX_NESTING || blocks > MAX_BLOCKS) return true;
  }
  return false;
}

/** The lexer of Handlebars' generated parser, with the numbers of its tokens; the package has no types for it. */
interface Lexer {
  yy: object;
  setInput(text: string): void;
  lex(): number | string;
}
const { lexer: shared, symbols_: tokens } = (
  Handlebars as unknown as { Parser: { lexer: Lexer; symbols_: Record<'OPEN_SEXPR' | 'CLOSE_SEXPR' | 'EOF' | '$end', number> } }
).Parser;

/** Only the lexer surely tells the `(` of a call from one in a text, a comment or a string. Throws where it cannot read on. */
function hasDeepCalls(source: string): boolean {
  if (source.split('(', MAX_NESTING + 2).length <= MAX_NESTING + 1) return false;
  const lexer = Object.assign(Object.create(shared) as Lexer, { yy: {} });
  lexer.setInput(source);
  let depth = 0;
  for (let token = lexer.lex(); token !== tokens.EOF && token !== tokens.$end; token = lexer.lex()) {
    if (token === tokens.OPEN_SEXPR) depth++;
    if (token === tokens.CLOSE_SEXPR) depth--;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
