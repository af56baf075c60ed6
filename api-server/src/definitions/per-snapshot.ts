import type { Snapshot } from './snapshot.ts';

/** What is made of all definitions, once for each load. */
export function perSnapshot<Made extends object>(make: (snapshot: Snapshot) => Made): (snapshot: Snapshot) => Made {
  const known = new WeakMap<Snapshot, Made>();
  return (snapshot) => {
    const made = known.get(snapshot) ?? make(snapshot);
    known.set(snapshot, made);
    return made;
  };
}
