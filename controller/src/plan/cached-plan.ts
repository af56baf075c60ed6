import { createResolveMemo, inTurns, type Operator, type Resting } from '@signalbox/crds';
import type { CustomObject } from '../objects/custom-object.ts';
import { planning, type Verdict } from './plan.ts';

export type CachedPlan = (objects: readonly CustomObject[]) => Promise<Verdict[]>;

/** `plan` that checks only what changed. It lets other work in between, and must not be called again before it is done. */
export function createCachedPlan(operator: Operator | undefined, resting: Resting): CachedPlan {
  const memo = createResolveMemo();
  return (objects) => inTurns(planning(objects, { operator, memo }), resting);
}
