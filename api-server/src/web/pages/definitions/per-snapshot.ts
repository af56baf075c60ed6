import type { Snapshot } from '../../../service/definitions/definitions.ts';

/** What pages make of all definitions, made once for each load. */
export function perSnapshot<Made extends object>(make: (snapshot: Snapshot) => Made): (snapshot: Snapshot) => Made {
  const known = new WeakMap<Snapshot, Made>();
  return (snapshot) => {
    const made = known.get(snapshot) ?? make(snapshot);
    known.set(snapshot, made);
    return made;
  };
}
