import { MAX_YAML_BYTES, MAX_YAML_DEPTH, MAX_YAML_NODES } from './yaml-size.ts';

/** Longer keys may be written in another form, which counts more. */
const MAX_KEY = 200;
/** Around a value and its key: quotes, a colon, a dash, spaces and the end of the line. */
const MARKS = 8;

/**
 * Whether the YAML text that is made of a JSON value surely reads as that value and is within all limits of a text, whose
 * parsing takes most of the time of a check. False where it is in doubt.
 */
export function isSure(value: unknown): boolean {
  const count = { nodes: 0, depth: 0 };
  if (!isCounted(value, 0, count)) return false;
  const json = JSON.stringify(value);
  // Every value and every line of a text may stand on a line of its own, indented as the deepest is.
  const lines = count.nodes + json.split('\\n').length;
  return Buffer.byteLength(json) + lines * (2 * count.depth + MARKS) <= MAX_YAML_BYTES;
}

interface Count {
  nodes: number;
  depth: number;
}

/** Counts keys, items and values, each as much as the lexer or the reader of a text would. */
function isCounted(value: unknown, depth: number, count: Count): boolean {
  count.nodes += 1;
  count.depth = Math.max(count.depth, depth);
  if (depth > MAX_YAML_DEPTH || count.nodes > MAX_YAML_NODES) return false;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return value !== undefined;
  if (value === null) return true;
  const parts = Object.entries(value);
  count.nodes += parts.length;
  return parts.every(([key, part]) => isSureKey(key) && isCounted(part, depth + 1, count));
}

const isSureKey = (key: string): boolean => key.length <= MAX_KEY && key !== '__proto__' && !key.includes('\n');
