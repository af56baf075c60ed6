import { templateName } from '../names.ts';

/** An own property of a map or a list, never anything inherited. `undefined` when there is none. */
export function ownValue(holder: unknown, key: string | number): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined;
  const value: unknown = (holder as Record<string | number, unknown>)[key];
  return typeof value === 'function' ? undefined : value;
}

const known = new WeakMap<object, ReadonlyMap<string, string>>();

/** The names of steps by the form with `_`, read once: a loop of a template may look for thousands that there are not. */
function stepNames(steps: object): ReadonlyMap<string, string> {
  // Of two with one form the first counts.
  const names =
    known.get(steps) ??
    new Map(
      Object.keys(steps)
        .toReversed()
        .map((name) => [templateName(name), name]),
    );
  known.set(steps, names);
  return names;
}

/** A step by its name, or by its name with `-` written as `_`. */
export function stepValue(steps: unknown, key: string): unknown {
  const exact = ownValue(steps, key);
  if (exact !== undefined || !key.includes('_') || typeof steps !== 'object' || steps === null) return exact;
  const name = stepNames(steps).get(key);
  return name === undefined ? undefined : ownValue(steps, name);
}
