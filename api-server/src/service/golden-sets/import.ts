import { AppError } from '@signalbox/crds';
import { family } from '../../runs/state/hourly.ts';
import { newId } from '../../runs/state/ids.ts';
import type { Tx } from '../../store/db/database.ts';
import {
  changeGoldenMember,
  type GoldenMember,
  goldenMembers,
  insertGoldenMember,
  recordedStep,
} from '../../store/tables/replay/golden-members.ts';
import type { GoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { type GoldenFile, invalid, type NumberedLine } from './file.ts';
import { MAX_MEMBERS } from './pinnable.ts';

export interface ImportCounts {
  added: number;
  updated: number;
  unchanged: number;
  unavailable: number;
}

/** Adds what the set lacks and takes label and note of the rest from the file; a member that the file lacks stays. */
export async function importInto(tx: Tx, set: GoldenSet, file: GoldenFile, at: number): Promise<ImportCounts> {
  if (set.archivedAt !== null) throw new AppError('conflict', 'the golden set is archived; restore it first');
  if (set.stepName !== file.set.step_name)
    throw new AppError('conflict', `a golden set with this name exists for the step ${set.stepName}`);
  const present = new Map((await goldenMembers(tx.db, set.id)).map((member) => [member.stepId, member]));
  const counts: ImportCounts = { added: 0, updated: 0, unchanged: 0, unavailable: 0 };
  for (const row of file.members) {
    if (!(await isStored(tx, set, row))) counts.unavailable += 1;
    const member = present.get(row.step_id);
    if (member) counts[(await update(tx, member, row)) ? 'updated' : 'unchanged'] += 1;
    else {
      const added = toMember(row, set.id, newId(at));
      await insertGoldenMember(tx, added);
      present.set(added.stepId, added);
      counts.added += 1;
    }
  }
  if (present.size > MAX_MEMBERS) throw new AppError('conflict', `a golden set has at most ${MAX_MEMBERS} members`);
  return counts;
}

/** Whether the execution is stored here. A row of another execution is refused: it would be unknown what is replayed. */
async function isStored(tx: Tx, set: GoldenSet, row: NumberedLine): Promise<boolean> {
  if (family(row.step_name) !== set.stepName)
    throw invalid(row.number, `step_name: the golden set is for the step ${set.stepName}`);
  const step = await recordedStep(tx.db, { id: row.step_id });
  if (step !== null && (step.runId !== row.run_id || step.stepName !== row.step_name))
    throw invalid(row.number, 'step_id: another execution has this id here');
  return step !== null;
}

async function update(tx: Tx, member: GoldenMember, row: NumberedLine): Promise<boolean> {
  const { outcome, label_source: labelSource, note } = row;
  if (member.outcome === outcome && member.labelSource === labelSource && member.note === note) return false;
  await changeGoldenMember(tx, member, { outcome, labelSource, note });
  return true;
}

const toMember = (row: NumberedLine, setId: string, id: string): GoldenMember => ({
  id,
  setId,
  stepId: row.step_id,
  runId: row.run_id,
  stepName: row.step_name,
  outcome: row.outcome,
  labelSource: row.label_source,
  note: row.note,
  pinnedAt: row.pinned_at,
  pinnedBy: row.pinned_by,
  promptHash: row.prompt_hash,
  agentVersion: row.agent_version,
});
