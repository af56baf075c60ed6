import type { GoldenSetLine } from '../../../service/views/analytics/golden-set.ts';
import type { RegressionSchedule } from '../../../service/views/analytics/regression.ts';
import { exactTime, percent } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { cronWords } from '../schedules/cron-words.ts';

/** The form of a new set, with what was typed and why it was not taken. */
export interface NewSetForm {
  entered: { name: string; step_name: string; description: string };
  problem: { field: 'name' | 'step_name' | 'description' | null; msg: string } | null;
}

export const EMPTY_FORM: NewSetForm = { entered: { name: '', step_name: '', description: '' }, problem: null };

export interface GoldenSetsInput {
  sets: readonly GoldenSetLine[];
  /** Entries of `replay.regression`. */
  schedules: readonly RegressionSchedule[];
  /** Names of steps with an agent, to choose from. */
  steps: readonly string[];
  operator: boolean;
  form: NewSetForm;
}

/** All sets: those in use, then the archived ones. */
export function goldenSetsView({ sets, schedules, steps, operator, form }: GoldenSetsInput) {
  const active = sets.filter(({ archived_at: at }) => at === null);
  return {
    count: plural(active.length, 'set'),
    operator,
    action: paths.goldenSets(),
    importAction: paths.goldenSetImport(),
    runsPath: paths.runs(),
    rows: active.map((set) => setRow(set, schedules)),
    // An entry without a set has no row that could say so.
    lost: schedules.filter((entry) => !sets.some(({ name }) => name === entry.golden_set)).map(lostEntry),
    archived: sets.filter(({ archived_at: at }) => at !== null).map((set) => setRow(set, schedules)),
    form: formView(form, steps),
  };
}

const problemOf = ({ problem }: NewSetForm, field: string) => (problem?.field === field ? problem.msg : null);

const formView = (form: NewSetForm, steps: readonly string[]) => ({
  open: form.problem !== null,
  ...form.entered,
  steps,
  problem: form.problem?.field === null ? form.problem.msg : null,
  nameProblem: problemOf(form, 'name'),
  stepProblem: problemOf(form, 'step_name'),
});

const lostEntry = ({ golden_set: name, refused }: RegressionSchedule) => ({ name, refused: refused ?? '' });

function scheduleOf({ name }: GoldenSetLine, schedules: readonly RegressionSchedule[]) {
  const entry = schedules.find(({ golden_set: of }) => of === name);
  if (entry === undefined) return { words: 'not scheduled', refused: false };
  return entry.refused === null
    ? { words: `${cronWords(entry.cron)} UTC`, refused: false }
    : { words: `not scheduled: ${entry.refused}`, refused: true };
}

function setRow(set: GoldenSetLine, schedules: readonly RegressionSchedule[]) {
  const { correct, partial, incorrect } = set.labels;
  return {
    name: set.name,
    href: paths.goldenSet(set.id),
    step: set.step_name,
    description: set.description,
    members: plural(set.members, 'member'),
    labels: labelsOf({ correct, partial, incorrect }),
    accuracy: percent(set.accuracy),
    schedule: scheduleOf(set, schedules),
    archived: set.archived_at === null ? '' : exactTime(set.archived_at),
  };
}

/** `12 correct · 2 incorrect`; nothing for an empty set. */
export const labelsOf = (labels: GoldenSetLine['labels']): string =>
  Object.entries(labels)
    .filter(([, n]) => n > 0)
    .map(([outcome, n]) => `${n} ${outcome}`)
    .join(' · ');
