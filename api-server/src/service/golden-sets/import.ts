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
import { MAX_MEMBERS, whyNoAnswer } from './pinnable.ts';

export interface ImportCounts {
  added: number;
  updated: number;
  unchanged: number;
  unavailable: number;
}

export interface Importing {
  set: GoldenSet;
  file: GoldenFile;
  /** Whether the file may change the label of a member. */
  overwrite: boolean;
  at: number;
  /** Who imports: it is their pin, whatever name stands in the file. */
  by: string;
}

export interface Imported {
  counts: ImportCounts;
  /** Labels that changed, each as `run/step: old -> new`. */
  relabelled: string[];
}

/** Adds what the set lacks and takes the note of the rest from the file, with `overwrite` the label too; a member that the file lacks stays. */
export async function importInto(tx: Tx, { set, file, overwrite, at, by }: Importing): Promise<Imported> {
  requireSame(set, file);
  const present = new Map((await goldenMembers(tx.db, set.id)).map((member) => [member.stepId, member]));
  const counts: ImportCounts = { added: 0, updated: 0, unchanged: 0, unavailable: 0 };
  const relabelled: string[] = [];
  for (const row of file.members) {
    if (!(await isStored(tx, set, row))) counts.unavailable += 1;
    const member = present.get(row.step_id);
    if (member) {
      if (hasOtherLabel(member, row)) relabelled.push(changeOf(member, row));
      counts[(await update(tx, member, row)) ? 'updated' : 'unchanged'] += 1;
    } else {
      const added = toMember(row, set.id, { id: newId(at), pinnedBy: by });
      await insertGoldenMember(tx, added);
      present.set(added.stepId, added);
      counts.added += 1;
    }
  }
  if (present.size > MAX_MEMBERS) throw new AppError('conflict', `a golden set has at most ${MAX_MEMBERS} members`);
  if (relabelled.length > 0 && !overwrite) throw otherLabels(relabelled);
  return { counts, relabelled };
}

function requireSame(set: GoldenSet, file: GoldenFile): void {
  if (set.archivedAt !== null) throw new AppError('conflict', 'the golden set is archived; restore it first');
  if (set.stepName !== file.set.step_name)
    throw new AppError('conflict', `a golden set with this name exists for the step ${set.stepName}`);
}

const hasOtherLabel = (member: GoldenMember, row: NumberedLine) =>
  member.outcome !== row.outcome || member.labelSource !== row.label_source;

const changeOf = ({ runId, stepName, ...member }: GoldenMember, row: NumberedLine): string =>
  `${runId}/${stepName}: ${member.outcome} (${member.labelSource}) -> ${row.outcome} (${row.label_source})`;

const MAX_LISTED = 20;

/** A bounded list for the audit log and for refusals. */
export function listed(changes: readonly string[]): string {
  const more = changes.length - MAX_LISTED;
  return [...changes.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const otherLabels = (relabelled: readonly string[]) =>
  new AppError(
    'conflict',
    `the file has other labels for ${relabelled.length} members: ${listed(relabelled)}. Nothing was imported; ?overwrite=true takes the labels of the file`,
  );

/**
 * Whether the execution is stored here. A row of another execution is refused, for it would be unknown what is replayed,
 * and one that could not be pinned.
 */
async function isStored(tx: Tx, set: GoldenSet, row: NumberedLine): Promise<boolean> {
  if (family(row.step_name) !== set.stepName)
    throw invalid(row.number, `step_name: the golden set is for the step ${set.stepName}`);
  const step = await recordedStep(tx.db, { id: row.step_id });
  if (step !== null && (step.runId !== row.run_id || step.stepName !== row.step_name))
    throw invalid(row.number, 'step_id: another execution has this id here');
  const refused = step && whyNoAnswer(step);
  if (refused) throw invalid(row.number, `step_id: ${refused}`);
  return step !== null;
}

async function update(tx: Tx, member: GoldenMember, row: NumberedLine): Promise<boolean> {
  const { outcome, label_source: labelSource, note } = row;
  if (!hasOtherLabel(member, row) && member.note === note) return false;
  await changeGoldenMember(tx, member, { outcome, labelSource, note });
  return true;
}

const toMember = (row: NumberedLine, setId: string, fresh: Pick<GoldenMember, 'id' | 'pinnedBy'>): GoldenMember => ({
  ...fresh,
  setId,
  stepId: row.step_id,
  runId: row.run_id,
  stepName: row.step_name,
  outcome: row.outcome,
  labelSource: row.label_source,
  note: row.note,
  pinnedAt: row.pinned_at,
  promptHash: row.prompt_hash,
  agentVersion: row.agent_version,
});
