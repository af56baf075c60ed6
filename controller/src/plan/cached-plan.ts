import { createResolveMemo, type Operator, shortHash } from '@signalbox/crds';
import type { CustomObject } from '../objects/custom-object.ts';
import { plan, type Verdict } from './plan.ts';
import { gateState } from './readiness-gate.ts';

/** `plan`, computed anew only where a spec or what was accepted of one changed: most changes are of conditions. */
export function createCachedPlan(operator: Operator | undefined): (objects: readonly CustomObject[]) => Verdict[] {
  const memo = createResolveMemo();
  let key = '';
  let verdicts: Verdict[] = [];
  return (objects) => {
    const next = objects.map(fingerprint).toSorted().join('\n');
    if (next !== key) {
      key = next;
      verdicts = plan(objects, operator, memo);
      return verdicts;
    }
    const current = new Map(objects.map((object) => [object.uid, object]));
    return verdicts.map((verdict) => ({ ...verdict, object: current.get(verdict.object.uid) ?? verdict.object }));
  };
}

const fingerprints = new WeakMap<CustomObject, string>();

/** A generation stands for a spec; what was accepted and the annotations have no number of their own. */
function fingerprint(object: CustomObject): string {
  const known = fingerprints.get(object);
  if (known !== undefined) return known;
  const { uid, generation, createdAt, status } = object;
  const made = [uid, generation, createdAt, gateState(object), shortHash(status.lastAccepted ?? null)].join(' ');
  fingerprints.set(object, made);
  return made;
}
