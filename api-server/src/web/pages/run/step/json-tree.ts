export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'word';

/** A JSON value as nested rows that fold; `more` says what was left out. */
export interface JsonNode {
  key: string | null;
  kind: JsonKind;
  fold: boolean;
  open: boolean;
  text: string;
  children: JsonNode[];
  more: string | null;
}

const MAX_DEPTH = 12;
const MAX_NODES = 600;
const MAX_TEXT = 20_000;

/** Rows that trees which stand beside each other have left. */
export interface Budget {
  nodes: number;
}

function leaf(key: string | null, value: unknown): JsonNode {
  const base = { key, fold: false, open: false, children: [], more: null };
  if (typeof value === 'string') {
    const cut = value.length > MAX_TEXT;
    return {
      ...base,
      kind: 'string',
      text: cut ? value.slice(0, MAX_TEXT) : value,
      more: cut ? `${value.length - MAX_TEXT} characters more` : null,
    };
  }
  return { ...base, kind: typeof value === 'number' ? 'number' : 'word', text: String(value) };
}

const LIST = { kind: 'array', word: 'item', empty: '[]' } as const;
const OBJECT = { kind: 'object', word: 'key', empty: '{}' } as const;

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

function nodeOf(key: string | null, value: unknown, depth: number, budget: Budget): JsonNode {
  budget.nodes -= 1;
  if (typeof value !== 'object' || value === null) return leaf(key, value);
  const names = Object.keys(value);
  const shape = Array.isArray(value) ? LIST : OBJECT;
  const node: JsonNode = {
    key,
    kind: shape.kind,
    fold: names.length > 0,
    open: depth < 2 && names.length <= 40,
    text: names.length === 0 ? shape.empty : plural(names.length, shape.word),
    children: [],
    more: null,
  };
  for (const name of names) {
    if (budget.nodes <= 0 || depth >= MAX_DEPTH) {
      node.more = `${names.length - node.children.length} more not shown here; the API has them all`;
      break;
    }
    node.children.push(nodeOf(name, (value as Record<string, unknown>)[name], depth + 1, budget));
  }
  return node;
}

const NO_ROOM = {
  key: null,
  kind: 'word',
  fold: false,
  open: false,
  text: '…',
  children: [],
  more: 'not shown here; the API has it',
} as const;

/** The tree of a value, with limits on depth, nodes and text length, so that large outputs do not slow the page. */
export function jsonTree(value: unknown, shared: Budget = { nodes: MAX_NODES }): JsonNode {
  if (shared.nodes <= 0) return { ...NO_ROOM, children: [] };
  const most = Math.min(MAX_NODES, shared.nodes);
  const own = { nodes: most };
  const tree = nodeOf(null, value, 0, own);
  shared.nodes -= most - own.nodes;
  return tree;
}
