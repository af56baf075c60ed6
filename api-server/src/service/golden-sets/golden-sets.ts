import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { family } from '../../runs/state/hourly.ts';
import { newId } from '../../runs/state/ids.ts';
import type { Database, Tx } from '../../store/db/database.ts';
import {
  changeGoldenMember,
  deleteGoldenMember,
  goldenMembers,
  insertGoldenMember,
  lockPins,
  type RecordedStep,
  recordedStep,
  seenMembers,
  setsWith,
} from '../../store/tables/replay/golden-members.ts';
import {
  countGoldenSets,
  findGoldenSet,
  type GoldenSet,
  insertGoldenSet,
  listGoldenSets,
  setArchived,
} from '../../store/tables/replay/golden-sets.ts';
import type { Actor } from '../actor.ts';
import { type Action, recordIn } from '../audit/record.ts';
import { DefinitionName, freeText, note, RunId, StepName, unknownId } from '../fields.ts';
import { component } from '../views/answer.ts';
import {
  countOutcomes,
  type GoldenMemberLine,
  goldenMemberView,
  type GoldenSetDetail,
  type GoldenSetImported,
  type GoldenSetLine,
  type GoldenSetList,
  goldenSetView,
} from '../views/analytics/golden-set.ts';
import { readGoldenFile, writeGoldenFile } from './file.ts';
import { type Imported, importInto, listed } from './import.ts';
import { MAX_MEMBERS, NO_LABEL, whyNoAnswer } from './pinnable.ts';

const MAX_SETS = 500;

const Note = note(1_000);

export const NewGoldenSet = component(
  'NewGoldenSet',
  z.strictObject({
    name: DefinitionName,
    step_name: DefinitionName,
    description: freeText(1_000).default(''),
  }),
  { name: 'checkout-triage', step_name: 'investigate', description: 'Alerts that were misread before.' },
);
export type NewGoldenSet = z.output<typeof NewGoldenSet>;

export const NewGoldenMember = component(
  'NewGoldenMember',
  z.strictObject({ run_id: RunId, step_name: StepName, note: Note }),
  { run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6', step_name: 'investigate', note: 'Two alerts with one cause.' },
);
export type NewGoldenMember = z.output<typeof NewGoldenMember>;

export const MemberNote = component('GoldenMemberNote', z.strictObject({ note: Note }), {
  note: 'Two alerts with one cause.',
});

export interface GoldenSetsDeps {
  database: Pick<Database, 'db' | 'write'>;
  now(): number;
}

/** What a page needs to offer an execution to the sets of its step. */
export interface PinOffer {
  step: RecordedStep;
  /** Why it cannot be replayed; null where it can. Without an outcome it cannot be pinned yet. */
  refused: string | null;
  /** Sets of this step that are in use. */
  sets: GoldenSetLine[];
  /** Sets that have it. */
  pinnedIn: { id: string; name: string }[];
}

/** Sets of pinned executions with their labels (Orchestration 2.11). Functions that take an id throw `not_found`. */
export interface GoldenSets {
  list(): Promise<GoldenSetList>;
  get(id: string): Promise<GoldenSetDetail>;
  /** Throws `collision` where the name is taken. */
  create(input: NewGoldenSet, actor: Actor): Promise<GoldenSetLine>;
  offer(runId: string, stepName: string): Promise<PinOffer>;
  /** Throws `conflict`, and `unprocessable` for an execution that cannot be a member. */
  pin(id: string, input: NewGoldenMember, actor: Actor): Promise<GoldenMemberLine>;
  note(id: string, memberId: string, note: string | null, actor: Actor): Promise<GoldenMemberLine>;
  remove(id: string, memberId: string, actor: Actor): Promise<void>;
  /** An archived set takes no members and is not replayed. */
  archive(id: string, archived: boolean, actor: Actor): Promise<GoldenSetLine>;
  /** One JSON object a line: the set, then its members. */
  exportFile(id: string): Promise<{ name: string; text: string }>;
  /** Throws `validation` with the line, and `conflict`. */
  importFile(file: { jsonl: string; overwrite: boolean }, actor: Actor): Promise<GoldenSetImported>;
}

export function createGoldenSets({ database, now }: GoldenSetsDeps): GoldenSets {
  const { db, write } = database;
  const known = async (id: string, from = db): Promise<GoldenSet> => {
    const set = await findGoldenSet(from, { id });
    if (set === null) throw unknownId('golden set');
    return set;
  };
  const lineOf = async (set: GoldenSet) =>
    goldenSetView({ ...set, labels: countOutcomes(await goldenMembers(db, set.id)) });
  const audited = (tx: Tx, actor: Actor, { name }: GoldenSet, action: Omit<Action, 'targetType' | 'target'>) =>
    recordIn(tx, actor, now(), { ...action, targetType: 'golden_set', target: name });
  const changed = async (set: GoldenSet, memberId: string) => {
    const found = (await seenMembers(db, set.id)).find(({ id }) => id === memberId);
    if (found === undefined) throw unknownId('member');
    return goldenMemberView(found);
  };

  return {
    list: async () => ({ golden_sets: (await listGoldenSets(db, MAX_SETS)).map(goldenSetView) }),
    get: async (id) => {
      const set = await known(id);
      const members = await seenMembers(db, id);
      return { ...goldenSetView({ ...set, labels: countOutcomes(members) }), rows: members.map(goldenMemberView) };
    },
    create: async (input, actor) => {
      const set = newSet(input, actor, now());
      await write(async (tx) => {
        await addSet(tx, set);
        await audited(tx, actor, set, { action: 'create', outcome: 'created' });
      });
      return lineOf(set);
    },
    offer: async (runId, stepName) => {
      const named = RunId.safeParse(runId).success && StepName.safeParse(stepName).success;
      const step = named ? await recordedStep(db, { runId, stepName }) : null;
      if (step === null) throw noStep();
      const sets = (await listGoldenSets(db, MAX_SETS)).filter(
        (set) => set.stepName === step.family && set.archivedAt === null,
      );
      return {
        step,
        refused: whyNoAnswer(step),
        sets: sets.map(goldenSetView),
        pinnedIn: await setsWith(db, step.id),
      };
    },
    pin: async (id, { run_id: runId, step_name: stepName, note }, actor) => {
      const at = now();
      const { set, memberId } = await write(async (tx) => {
        await lockPins(tx);
        const step = await recordedStep(tx.db, { runId, stepName });
        if (step === null) throw noStep();
        const into = await known(id, tx.db);
        const memberId = await addMember(tx, { set: into, step, note, at, by: actor.name });
        await audited(tx, actor, into, { action: 'pin', runId, outcome: 'pinned' });
        return { set: into, memberId };
      });
      return changed(set, memberId);
    },
    note: async (id, memberId, note, actor) => {
      const set = await known(id);
      await write(async (tx) => {
        const member = await changeGoldenMember(tx, { setId: id, id: memberId }, { note });
        if (member === null) throw unknownId('member');
        await audited(tx, actor, set, { action: 'note', runId: member.runId, outcome: 'updated' });
      });
      return changed(set, memberId);
    },
    remove: async (id, memberId, actor) => {
      const set = await known(id);
      await write(async (tx) => {
        const member = await deleteGoldenMember(tx, id, memberId);
        if (member === null) throw unknownId('member');
        await audited(tx, actor, set, { action: 'unpin', runId: member.runId, outcome: 'removed' });
      });
    },
    archive: async (id, archived, actor) => {
      const set = await known(id);
      const archivedAt = archived ? (set.archivedAt ?? now()) : null;
      const done = archived
        ? ({ action: 'archive', outcome: 'archived' } as const)
        : ({ action: 'restore', outcome: 'restored' } as const);
      await write(async (tx) => {
        await setArchived(tx, id, archivedAt);
        await audited(tx, actor, set, done);
      });
      return lineOf({ ...set, archivedAt });
    },
    exportFile: async (id) => {
      const set = await known(id);
      return { name: set.name, text: writeGoldenFile(set, await goldenMembers(db, id)) };
    },
    importFile: async ({ jsonl, overwrite }, actor) => {
      const file = readGoldenFile(jsonl);
      const { set, counts } = await write(async (tx) => {
        await lockPins(tx);
        const found = await findGoldenSet(tx.db, { name: file.set.name });
        const into = found ?? newSet(file.set, actor, now());
        if (found === null) await addSet(tx, into);
        const imported = await importInto(tx, { set: into, file, overwrite, at: now(), by: actor.name });
        await audited(tx, actor, into, { action: 'import', outcome: outcomeOf(imported) });
        return { set: into, counts: imported.counts };
      });
      return { id: set.id, name: set.name, ...counts };
    },
  };
}

function outcomeOf({ counts, relabelled }: Imported): string {
  const labels = relabelled.length === 0 ? '' : `; labels: ${listed(relabelled)}`;
  return `added ${counts.added}, updated ${counts.updated}${labels}`;
}

const noStep = () => new AppError('not_found', 'no run or step has this name');

const newSet = ({ name, description, step_name: stepName }: NewGoldenSet, actor: Actor, at: number): GoldenSet => ({
  id: newId(at),
  name,
  description,
  stepName,
  createdAt: at,
  createdBy: actor.name,
  archivedAt: null,
});

async function addSet(tx: Tx, set: GoldenSet): Promise<void> {
  if ((await countGoldenSets(tx.db)) >= MAX_SETS)
    throw new AppError('conflict', `there are ${MAX_SETS} golden sets, which is the most that is possible`);
  if (!(await insertGoldenSet(tx, set))) throw new AppError('collision', 'a golden set with this name exists');
}

interface Pin {
  set: GoldenSet;
  step: RecordedStep;
  note: string | null;
  at: number;
  by: string;
}

/** The id of the new member. Its label is the one that the execution has now. */
async function addMember(tx: Tx, { set, step, note, at, by }: Pin): Promise<string> {
  if (set.archivedAt !== null) throw new AppError('conflict', 'the golden set is archived; restore it first');
  if (family(step.stepName) !== set.stepName)
    throw new AppError('unprocessable', `the golden set is for the step ${set.stepName}`);
  const refused = whyNoAnswer(step);
  if (refused !== null) throw new AppError('unprocessable', refused);
  const { outcome, labelSource } = step;
  if (outcome === null || labelSource === null) throw new AppError('unprocessable', NO_LABEL);
  if ((await goldenMembers(tx.db, set.id)).length >= MAX_MEMBERS)
    throw new AppError('conflict', `the golden set has ${MAX_MEMBERS} members, which is the most that is possible`);
  const member = {
    id: newId(at),
    setId: set.id,
    stepId: step.id,
    runId: step.runId,
    stepName: step.stepName,
    outcome,
    labelSource,
    note,
    pinnedAt: at,
    pinnedBy: by,
    promptHash: step.promptHash,
    agentVersion: step.agentVersion,
  };
  if (!(await insertGoldenMember(tx, member)))
    throw new AppError('conflict', 'the golden set has this execution already');
  return member.id;
}
