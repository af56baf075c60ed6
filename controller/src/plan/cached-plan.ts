import { createResolveMemo, inTurns, type Operator, type Resting, shortHash } from '@signalbox/crds';
import type { CustomObject } from '../objects/custom-object.ts';
import { planning, type Verdict } from './plan.ts';
import { gateState } from './readiness-gate.ts';

export type CachedPlan = (objects: readonly CustomObject[]) => Promise<Verdict[]>;

/**
 * `plan`, computed again only where a spec or an accepted body changed: most changes are of conditions. It lets other work in
 * between, and must not be called again before it is done.
 */
export function createCachedPlan(operator: Operator | undefined, resting: Resting): CachedPlan {
  const memo = createResolveMemo();
  let planned: ReadonlySet<string> | null = null;
  let verdicts: Verdict[] = [];
  return async (objects) => {
    const editions = new Set(objects.map(fingerprint));
    if (planned === null || editions.symmetricDifference(planned).size > 0) {
      verdicts = await inTurns(planning(objects, { operator, memo }), resting);
      planned = editions;
      return verdicts;
    }
    const current = new Map(objects.map((object) => [object.uid, object]));
    return verdicts.map((verdict) => ({ ...verdict, object: current.get(verdict.object.uid) ?? verdict.object }));
  };
}

const fingerprints = new WeakMap<CustomObject, string>();

/** A generation stands for a spec; the accepted body and the annotations have no number, so their content counts. */
function fingerprint(object: CustomObject): string {
  const known = fingerprints.get(object);
  if (known !== undefined) return known;
  const { uid, generation, createdAt, status } = object;
  const made = [uid, generation, createdAt, gateState(object), shortHash(status.lastAccepted ?? null)].join(' ');
  fingerprints.set(object, made);
  return made;
}
