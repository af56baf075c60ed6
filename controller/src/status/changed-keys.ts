import { canonicalJson } from '@signalbox/crds';

const DEPTH = 3;
const SHOWN = 6;

/** Where two bodies differ, as `steps.0.agent, trigger.match`; a list that grew or shrank is named as a whole. */
export function changedKeys(before: unknown, after: unknown): string {
  const keys = differences(before, after, []).map((path) => path.join('.'));
  const more = keys.length > SHOWN ? [`${keys.length - SHOWN} more`] : [];
  return [...keys.slice(0, SHOWN), ...more].join(', ');
}

function differences(before: unknown, after: unknown, path: string[]): string[][] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  if (path.length >= DEPTH || !isMap(before) || !isMap(after) || lengthOf(before) !== lengthOf(after)) return [path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const lengthOf = (value: object): number | null => (Array.isArray(value) ? value.length : null);
