import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import { readLoaded } from './read-loaded.ts';

/**
 * The text of a pipeline with `suspend` set. Comments, order and quoting do not change.
 * The text must be a valid definition.
 */
export function withSuspend(text: string, suspend: boolean): string {
  const root = readLoaded(text).contents;
  if (!isMap(root)) return text;
  const pair = pairOf(root, 'suspend');
  const edited = pair ? replaced(text, pair, suspend) : inserted(text, root, suspend);
  return reads(edited, suspend) ? edited : rewritten(text, suspend);
}

const pairOf = (root: YAMLMap, name: string) => root.items.find(({ key }) => isScalar(key) && key.value === name);

const startOf = (node: unknown): number | null => (isScalar(node) && node.range ? node.range[0] : null);

function replaced(text: string, { value }: Pair, suspend: boolean): string {
  if (!isScalar(value) || !value.range || value.range[0] === value.range[1]) return text;
  return text.slice(0, value.range[0]) + String(suspend) + text.slice(value.range[1]);
}

/** Adds a line below the name; in a flow map (`{…}`) an entry before the first key. */
function inserted(text: string, root: YAMLMap, suspend: boolean): string {
  const first = startOf(root.items[0]?.key);
  if (first === null) return text;
  if (root.flow) return `${text.slice(0, first)}suspend: ${suspend}, ${text.slice(first)}`;
  const key = startOf(pairOf(root, 'name')?.key) ?? first;
  const lineEnd = text.indexOf('\n', key);
  const indent = text.slice(text.lastIndexOf('\n', first - 1) + 1, first);
  if (lineEnd < 0 || indent.trim() !== '') return text;
  const newline = text[lineEnd - 1] === '\r' ? '\r\n' : '\n';
  return `${text.slice(0, lineEnd + 1)}${indent}suspend: ${suspend}${newline}${text.slice(lineEnd + 1)}`;
}

function reads(text: string, suspend: boolean): boolean {
  const document = readLoaded(text);
  return document.errors.length === 0 && document.get('suspend') === suspend;
}

/** For other texts: prints the whole document again, with its comments. */
function rewritten(text: string, suspend: boolean): string {
  const document = readLoaded(text);
  document.set('suspend', suspend);
  return document.toString({ lineWidth: 0 });
}
