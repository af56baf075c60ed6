import Handlebars from 'handlebars';

type Name =
  | 'OPEN_BLOCK'
  | 'OPEN_INVERSE'
  | 'OPEN_INVERSE_CHAIN'
  | 'OPEN_ENDBLOCK'
  | 'OPEN_PARTIAL_BLOCK'
  | 'OPEN_SEXPR'
  | 'CLOSE_SEXPR'
  | 'CONTENT'
  | 'EOF'
  | '$end';

/** The lexer of Handlebars' generated parser, with the numbers of its tokens; the package has no types for it. */
interface Lexer {
  yy: object;
  setInput(text: string): void;
  lex(): number | string;
}

export type Token = number | string;

const { lexer: shared, symbols_: numbers } = (
  Handlebars as unknown as { Parser: { lexer: Lexer; symbols_: Record<Name, number> } }
).Parser;
export const TOKENS = numbers;

/** Only the lexer surely tells tags from what looks like them in a text, a comment or a string. Throws where it cannot read on. */
export function* tokensOf(source: string): Generator<Token> {
  const lexer = Object.assign(Object.create(shared) as Lexer, { yy: {} });
  lexer.setInput(source);
  for (let token = lexer.lex(); token !== TOKENS.EOF && token !== TOKENS.$end; token = lexer.lex()) yield token;
}

/**
 * Whether it has more than so many words, signs and literals of tags and texts between them, which take long to parse; not where they
 * cannot be read.
 */
export function hasMoreTokens(source: string, most: number): boolean {
  try {
    return tokensOf(source).drop(most).next().done === false;
  } catch {
    // The parser gives up at the same place.
    return false;
  }
}
