import { escapedLength } from '../../fit-model.ts';

/** One coloured piece of a line; `kind` is the class of its colour, '' for plain text. */
export interface Piece {
  kind: '' | 'key' | 'comment' | 'string' | 'number' | 'template';
  text: string;
}

export interface YamlLine {
  number: number;
  /** The tone of a line with a problem; `cut` is the one that stands for those left out. */
  mark: string | null;
  pieces: Piece[];
}

const KEY = /^(\s*(?:- +)*)([^\s#:'"{}[\],&*!|>][^:#'"{}[\],]*?)(:)(?=\s|$)/;
const BLOCK = /[|>][+-]?\d?\s*(?:#.*)?$/;
const VALUE =
  /(\s#.*$|^#.*$)|(\{\{.*?\}\})|("(?:[^"\\]|\\.)*"(?=:))|("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<![\w.:/-])(-?\d+(?:\.\d+)?|true|false|null)(?![\w.:/-])/g;
const KINDS = ['comment', 'template', 'key', 'string', 'number'] as const;

/** Characters of all lines with the markup around them, so that a page with much else stays small. */
const MOST = 50_000;
const OF_LINE = 52;
const OF_PIECE = 18;
/** Of a line that is coloured: a search for the end of each string that has none takes the square of its length. */
const MAX_CHARS = 1_000;

interface Asked {
  /** Tones of lines, by number. */
  marks?: ReadonlyMap<number, string>;
  most?: number;
}

const NONE: ReadonlyMap<number, string> = new Map();

/** The lines of a YAML text in pieces to colour, as many as a page can show. */
export function yamlLines(source: string, { marks = NONE, most = MOST }: Asked = {}): YamlLine[] {
  const all = source.replace(/\n$/, '').split('\n');
  const piecesOfNext = colourer();
  const lines: YamlLine[] = [];
  let left = most;
  for (const line of all) {
    const number = lines.length + 1;
    if (left <= 0) return [...lines, more(number, all.length - lines.length)];
    const pieces = piecesOfNext(line);
    lines.push({ number, mark: marks.get(number) ?? null, pieces });
    left -= OF_LINE + escapedLength(line) + pieces.length * OF_PIECE;
  }
  return lines;
}

/** Colours one line after the other; a line of a block of text has only templates. */
function colourer(): (line: string) => Piece[] {
  let block: number | null = null;
  return (line) => {
    const indent = line.search(/\S/);
    const inBlock = block !== null && (indent === -1 || indent > block);
    const isPlain = line.length > MAX_CHARS;
    if (!inBlock) block = opensBlock(isPlain ? '' : line) ? indent : null;
    return isPlain ? compact([{ kind: '', text: line }]) : colouredPieces(line, inBlock);
  };
}

const more = (number: number, count: number): YamlLine => ({
  number,
  mark: 'cut',
  pieces: [{ kind: 'comment', text: `… (${count} lines more; the API has them all)` }],
});

const opensBlock = (line: string): boolean => BLOCK.test(line) && !/^\s*#/.test(line);
const colouredPieces = (line: string, inBlock: boolean) => (inBlock ? templatesIn(line) : piecesOf(line));

function piecesOf(line: string): Piece[] {
  const key = KEY.exec(line);
  if (key === null) return valuesIn(line);
  const [whole, before = '', name = '', colon = ''] = key;
  return compact([
    { kind: '', text: before },
    { kind: 'key', text: name },
    { kind: '', text: colon },
    ...valuesIn(line.slice(whole.length)),
  ]);
}

const valuesIn = (text: string): Piece[] => split(text, VALUE, (groups) => KINDS[groups.findIndex(Boolean)] ?? '');
const templatesIn = (text: string): Piece[] => split(text, /\{\{.*?\}\}/g, () => 'template');

function split(text: string, pattern: RegExp, kindOf: (groups: (string | undefined)[]) => Piece['kind']): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    pieces.push({ kind: '', text: text.slice(end, match.index) }, { kind: kindOf(match.slice(1)), text: match[0] });
    end = match.index + match[0].length;
  }
  return compact([...pieces, { kind: '', text: text.slice(end) }]);
}

const compact = (pieces: Piece[]): Piece[] => pieces.filter(({ text }) => text !== '');
