import { valuesIn } from '@signalbox/crds';
import { MAX_STATUS_VALUES } from '../objects/definition-size.ts';

/** A list in a list has two signs. */
const MAX_SIGNS = 2 * MAX_STATUS_VALUES;
/** What somebody else fills as they like. */
const PARTS: ReadonlySet<string> = new Set([
  'spec',
  'status',
  'managedFields',
  'finalizers',
  'labels',
  'ownerReferences',
]);

/**
 * The JSON text of an object, or of several, with null for each of these parts of more values than any that we read: parsed,
 * 1.4 MB of them take 20.
 */
export function withoutLargeParts(json: string): string {
  if (json.length <= MAX_SIGNS || valuesIn(json) <= MAX_SIGNS) return json;
  const kept: string[] = [];
  let from = 0;
  for (const { start, end } of partsOf(json)) {
    if (end - start <= MAX_SIGNS || valuesIn(json.slice(start, end)) <= MAX_SIGNS) continue;
    kept.push(json.slice(from, start), 'null');
    from = end;
  }
  return kept.join('') + json.slice(from);
}

interface Part {
  start: number;
  end: number;
}

/** Where the outermost parts stand; an API server writes no spaces between. */
function partsOf(json: string): Part[] {
  const parts: Part[] = [];
  let at = json.indexOf('"');
  while (at !== -1) {
    const end = endOfString(json, at);
    const start = end + 2;
    const isPart = json[end + 1] === ':' && '{['.includes(json[start] ?? '') && PARTS.has(json.slice(at + 1, end));
    if (isPart) parts.push({ start, end: endOfValue(json, start) });
    at = json.indexOf('"', isPart ? endOf(parts) : end + 1);
  }
  return parts;
}

const endOf = (parts: readonly Part[]): number => parts.at(-1)?.end ?? 0;

/** Of the string that opens here: its closing quote. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return json.length;
}

const LEVELS: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };

/** Of the object or list that opens here: the place after it. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const sign = json[at] ?? '';
    if (sign === '"') at = endOfString(json, at);
    else depth += LEVELS[sign] ?? 0;
    if (depth === 0) return at + 1;
  }
  return json.length;
}
