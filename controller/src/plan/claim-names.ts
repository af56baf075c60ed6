import { type CustomObject, definitionName } from '../objects/custom-object.ts';

/** An object whose definition's name another object has. */
export interface Lost {
  object: CustomObject;
  owner: CustomObject;
}

export interface Claims {
  /** Objects that have their definition's name for themselves. */
  owners: CustomObject[];
  losers: Lost[];
}

/**
 * Of two objects with one definition name that of the release's namespace keeps it, so that nobody waits for the operator to create an
 * object again; else the older one; of two of the same second, the first by namespace and name.
 */
export function claimNames(objects: readonly CustomObject[], home: string | null): Claims {
  const owners = new Map<string, CustomObject>();
  const losers: Claims['losers'] = [];
  const rank = ({ namespace }: CustomObject) => (namespace === home ? 0 : 1);
  for (const object of objects.toSorted((a, b) => rank(a) - rank(b) || byAge(a, b))) {
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
