import { byAge, type CustomObject, definitionName } from '../objects/custom-object.ts';

/** An object whose definition's name another object has. */
export interface Lost {
  object: CustomObject;
  owner: CustomObject;
}

export interface Claims {
  /** Kind and definition name -> the object that has the name for itself. */
  owners: ReadonlyMap<string, CustomObject>;
  losers: Lost[];
}

export const claimOf = (kind: string, name: string): string => `${kind} ${name}`;

/**
 * Of two objects with one definition name that of the release's namespace keeps it, so that nobody waits for the operator to create an
 * object again; else the older one; of two of the same second, the first by namespace and name.
 */
export function claimNames(objects: readonly CustomObject[], home: string | null): Claims {
  const owners = new Map<string, CustomObject>();
  const rank = ({ namespace }: CustomObject) => (namespace === home ? 0 : 1);
  const comesFirst = (a: CustomObject, b: CustomObject) => (rank(a) - rank(b) || byAge(a, b)) < 0;
  const rivals: CustomObject[] = [];
  for (const object of objects) {
    const key = keyOf(object);
    const owner = owners.get(key);
    if (owner) rivals.push(owner, object);
    if (!owner || comesFirst(object, owner)) owners.set(key, object);
  }
  const losers = [...new Set(rivals)].flatMap((object) => {
    const owner = owners.get(keyOf(object));
    return owner && owner !== object ? [{ object, owner }] : [];
  });
  return { owners, losers };
}

const keyOf = (object: CustomObject): string => claimOf(object.kind, definitionName(object));
