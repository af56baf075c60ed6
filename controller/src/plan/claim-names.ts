import { type CustomObject, definitionName } from '../objects/custom-object.ts';

export interface Claims {
  /** Objects that have their definition's name for themselves. */
  owners: CustomObject[];
  losers: { object: CustomObject; owner: CustomObject }[];
}

/** Of two objects with one definition name the older keeps it; of two of the same second, the first by namespace and name. */
export function claimNames(objects: readonly CustomObject[]): Claims {
  const owners = new Map<string, CustomObject>();
  const losers: Claims['losers'] = [];
  for (const object of objects.toSorted(byAge)) {
    const key = `${object.kind} ${definitionName(object)}`;
    const owner = owners.get(key);
    if (owner) losers.push({ object, owner });
    else owners.set(key, object);
  }
  return { owners: [...owners.values()], losers };
}

function byAge(a: CustomObject, b: CustomObject): number {
  return (
    compare(a.createdAt, b.createdAt) ||
    compare(a.kind, b.kind) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name) ||
    compare(a.uid, b.uid)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
