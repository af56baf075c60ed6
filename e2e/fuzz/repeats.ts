import fc from 'fast-check';

/** Pieces of all languages in a definition: repeated, they open, nest or end what never ends. */
const PIECES =
  '{{ }} {{{ {{{{ {{#if {{/if}} {{else {{^ {{! {{!-- --}} {{~ ( ) [ ] { } \\ " \' ` | || && ? : . .. ../ , ; + - * / % ! = < > # & @ $ ${ } a b 1 0 9 1e9 e size() .map(x, a. in true {1,9} {99} \\p{ \\pL (?i) (?i)[B-\u{1e942}B-\u{1e942}B-\u{1e942}B-\u{1e942}] \\PL \\Q [^ ^ $ é 😀 \u0301 \u2028 \u0001'.split(
    ' ',
  );
const piece = fc.oneof(fc.constantFrom(...PIECES, ' ', '\n', '\t'), fc.string({ minLength: 1, maxLength: 2 }));
const unit = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''));

/** Characters of a whole definition that is still checked where it is. */
const ROOM = 7000;

const asks = { executor: 'gateway', agent: 'x', prompt_template: 'hi' };
const calls = { executor: 'webhook', url: 'http://x' };
/** The longest text that each place takes, and a step with one there. */
const PLACES: readonly [number, (text: string) => object][] = [
  [65_536, (text) => ({ ...asks, prompt_template: text })],
  [4096, (text) => ({ ...asks, when: text })],
  [65_536, (text) => ({ ...asks, output_schema: { description: text } })],
  [65_536, (text) => ({ ...asks, output_schema: { properties: { [text]: {} } } })],
  [1000, (text) => ({ ...asks, output_schema: { pattern: text } })],
  [65_536, (text) => ({ ...asks, output_schema: { $ref: text } })],
  [65_536, (text) => ({ ...asks, [text]: 1 })],
  [65_536, (text) => ({ ...asks, agent: text })],
  [2048, (text) => ({ ...calls, url: text })],
  [65_536, (text) => ({ ...calls, payload: { [text]: text } })],
  [65_536, (text) => ({ use: text })],
  [65_536, (text) => ({ executor: text })],
  [4096, (text) => ({ fan_out: { over: text, step: asks } })],
];

const rulesOf = (text: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`labels.k${at}`, { regex: text }]));

/** A pipeline with one piece in one place, as often as fits, in one step or in several. */
export const repeats: fc.Arbitrary<object> = fc
  .tuple(unit, fc.constantFrom(...PLACES), fc.constantFrom(1, 2, 8), fc.boolean())
  .map(([text, [most, stepOf], count, inMatch]) => {
    const room = Math.min(most, Math.floor(ROOM / count));
    const filled = text.repeat(Math.max(1, Math.floor(room / JSON.stringify(text).length)));
    const steps = Array.from({ length: count }, (_, at) => ({ name: `s${at}`, ...stepOf(filled) }));
    const match = { trigger: { match: rulesOf(filled.slice(0, 900), count) } };
    return inMatch ? { name: 'p', ...match, steps: [{ name: 'a', ...asks }] } : { name: 'p', steps };
  });
