import { AppError } from '@signalbox/crds';
import type { RegressionEntry } from '../../config/config.ts';
import type { SeenMember } from '../../store/tables/replay/golden-members.ts';
import { seenMembers } from '../../store/tables/replay/golden-members.ts';
import { findGoldenSet, type GoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { type BatchRequest, type PlanDeps, planStep } from '../replay/plan-step.ts';

/** What an entry replays now, or why it is not registered. */
export type Ready =
  | { ok: true; set: GoldenSet; members: SeenMember[]; request: Omit<BatchRequest, 'launch'> }
  | { ok: false; reason: string };

/** Checks an entry as the set, the definitions and `replay.safe_agents` are now; calls no agent. */
export async function readyToReplay(deps: PlanDeps, { goldenSet }: Pick<RegressionEntry, 'goldenSet'>): Promise<Ready> {
  const { db } = deps.database;
  const set = await findGoldenSet(db, { name: goldenSet });
  if (set === null) return { ok: false, reason: 'there is no golden set of this name' };
  if (set.archivedAt !== null) return { ok: false, reason: 'the golden set is archived' };
  const members = await seenMembers(db, set.id);
  if (members.length === 0) return { ok: false, reason: 'the golden set has no members' };
  const request = requestOf(set, members);
  const refused = await planStep(deps, request).then(
    () => null,
    (error: unknown) => {
      if (error instanceof AppError && error.type === 'forbidden') return error.message;
      // A step that lost its definition is a replay that fails, and somebody has to hear of it.
      if (error instanceof AppError) return null;
      throw error;
    },
  );
  return refused === null ? { ok: true, set, members, request } : { ok: false, reason: refused };
}

/** Every member, the newest first: the loaded definition of its pipeline is what answers. */
const requestOf = (set: GoldenSet, members: readonly SeenMember[]): Omit<BatchRequest, 'launch'> => ({
  stepName: set.stepName,
  samples: members.toReversed().map(({ stepId, outcome, labelSource }) => ({ stepId, outcome, labelSource })),
  candidate: {},
  mode: 'rerender',
  source: 'regression',
  base: 'loaded',
});
