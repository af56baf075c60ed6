import { outcomeOf } from '../accuracy.ts';
import type { Alike, Columns, Combo, EvidenceBatch, Kind, Marks, Outcome } from './executions.ts';
import type { ReadinessStep } from './steps.ts';

/** How many answers had one confidence, and what the labelled ones of them are. */
export interface Point {
  answers: number;
  labels: Record<Outcome, number>;
}

/** Executions of one kind in one batch. */
export interface Seen extends Alike {
  columns: Columns;
  marks: ReadonlyMap<number, Marks>;
  /** Which of all runs that were read are the first of the batch, and the first of the next. */
  firstRun: number;
  endRun: number;
  failed: boolean;
}

/** What is counted of executions; the sum of two is that of their parts. */
export interface Tally {
  rows: number;
  failed: number;
  /** The executions themselves, for what depends on their run, age and status. */
  seen: Seen[];
  /** Answers with a confidence, the sum of it in 1/10,000, and those whose trust reaches the threshold. */
  answers: number;
  confidenceSum: number;
  passed: number;
  marks: Record<Outcome, number>;
  /** Labels that are no mark of this step: failed checks, and marks of whole runs. */
  fromChecks: number;
  fromRuns: number;
  /** By confidence in 1/10,000. */
  points: Map<number, Point>;
  firstSeenAt: number | null;
  lastSeenAt: number | null;
}

export interface ByCombo {
  combo: Combo;
  tally: Tally;
}

/** All evidence of one step, by who answered. */
export interface StepEvidence {
  combos: Map<string, ByCombo>;
  /** Executions that failed before anybody said which version of the agent it was. */
  unversioned: Seen[];
  /** Of the newest execution that has them. */
  newest: { at: number; promptHash: string | null } | null;
  newestVersion: { at: number; agentVersion: string | null } | null;
}

const noMarks = (): Record<Outcome, number> => ({ correct: 0, partial: 0, incorrect: 0 });

export const emptyTally = (): Tally => ({
  rows: 0,
  failed: 0,
  seen: [],
  answers: 0,
  confidenceSum: 0,
  passed: 0,
  marks: noMarks(),
  fromChecks: 0,
  fromRuns: 0,
  points: new Map(),
  firstSeenAt: null,
  lastSeenAt: null,
});

export const POINTS = 10_000;

/** Reads batches into the evidence of the steps they belong to; a branch of a fan-out counts under the name before the slash. */
export function createEvidence(steps: readonly ReadinessStep[]): {
  add(batch: EvidenceBatch): void;
  of(name: string): StepEvidence;
} {
  const byName = new Map(steps.map((step) => [step.name, { step, evidence: emptyEvidence() }]));
  let endRun = 0;
  let lastRun: number | null = null;
  return {
    add: ({ runs, columns, alike, marks }) => {
      const firstRun = runs[0] === lastRun ? endRun - 1 : endRun;
      endRun = firstRun + runs.length;
      lastRun = runs.at(-1) ?? lastRun;
      for (const { kind, begin, end } of alike) {
        const [family = '', branch] = kind.stepName.split('/');
        const found = byName.get(family);
        if (!found || (found.step.kind === 'fan_out') !== (branch !== undefined)) continue;
        const seen = { kind, begin, end, columns, marks, firstRun, endRun, failed: isFailure(kind) };
        addTo(found.evidence, found.step, seen);
      }
    },
    of: (name) => byName.get(name)?.evidence ?? emptyEvidence(),
  };
}

const emptyEvidence = (): StepEvidence => ({ combos: new Map(), unversioned: [], newest: null, newestVersion: null });

/** What ended without a word on whether the step does its work: nothing is learned from it. */
const NO_EVIDENCE = new Set(['running', 'skipped', 'cancelled']);

function addTo(evidence: StepEvidence, step: ReadinessStep, seen: Seen): void {
  const { status, promptHash, agentVersion } = seen.kind;
  if (NO_EVIDENCE.has(status)) return;
  const at = newestOf(seen);
  if (promptHash !== null && isNewer(at, evidence.newest)) evidence.newest = { at, promptHash };
  if (step.agent !== null && agentVersion === null && seen.failed) {
    evidence.unversioned.push(seen);
    return;
  }
  if (isNewer(at, evidence.newestVersion)) evidence.newestVersion = { at, agentVersion };
  addSeen(tallyOf(evidence, seen.kind), step, seen);
}

function newestOf({ columns: { startedAt }, begin, end }: Seen): number {
  let newest = 0;
  for (let at = begin; at < end; at += 1) newest = Math.max(newest, startedAt[at] ?? 0);
  return newest;
}

function tallyOf(evidence: StepEvidence, { agent, provider, model, promptHash, agentVersion }: Combo): Tally {
  const combo = { agent, provider, model, promptHash, agentVersion };
  const key = JSON.stringify(Object.values(combo));
  const known = evidence.combos.get(key) ?? { combo, tally: emptyTally() };
  evidence.combos.set(key, known);
  return known.tally;
}

const isNewer = (at: number, than: { at: number } | null): boolean => than === null || at >= than.at;

/** A gate that held back and a person who said no did their work. */
const HELD_BACK = new Set(['gate', 'rejected', 'branch']);
const isFailure = ({ status, errorType }: Kind): boolean =>
  status === 'failed' || ((status === 'aborted' || status === 'escalated') && !HELD_BACK.has(errorType ?? 'gate'));

export function addSeen(tally: Tally, step: ReadinessStep, seen: Seen): void {
  tally.seen.push(seen);
  tally.rows += seen.end - seen.begin;
  if (seen.failed) tally.failed += seen.end - seen.begin;
  for (let at = seen.begin; at < seen.end; at += 1) addOne(tally, step, seen, at);
}

const UNMARKED: Marks = { stepOutcome: null, runOutcome: null };

function addOne(tally: Tally, step: ReadinessStep, { columns, marks }: Seen, at: number): void {
  const { startedAt = 0, confidence = Number.NaN, ...signals } = valuesAt(columns, at);
  tally.firstSeenAt = Math.min(tally.firstSeenAt ?? startedAt, startedAt);
  tally.lastSeenAt = Math.max(tally.lastSeenAt ?? startedAt, startedAt);
  const label = addLabel(tally, marks.get(at) ?? UNMARKED, signals.checkFailed);
  if (Number.isNaN(confidence)) return;
  if (passes(step, confidence, signals)) tally.passed += 1;
  addAnswer(tally, confidence, label);
}

const valuesAt = ({ startedAt, confidence, grounding, checkFailed }: Columns, at: number) => ({
  startedAt: startedAt[at],
  confidence: confidence[at],
  grounding: grounding[at] ?? Number.NaN,
  checkFailed: checkFailed[at] === 1,
});

function addLabel(tally: Tally, { stepOutcome, runOutcome }: Marks, checkFailed: boolean): Outcome | null {
  const label = outcomeOf({ stepOutcome, runOutcome, checkFailed });
  if (label === null) return null;
  tally.marks[label] += 1;
  if (stepOutcome === null) tally[checkFailed ? 'fromChecks' : 'fromRuns'] += 1;
  return label;
}

function addAnswer(tally: Tally, confidence: number, label: Outcome | null): void {
  tally.answers += 1;
  const key = Math.round(confidence * POINTS);
  tally.confidenceSum += key;
  const known = tally.points.get(key);
  const point = known ?? { answers: 0, labels: noMarks() };
  if (!known) tally.points.set(key, point);
  point.answers += 1;
  if (label !== null) point.labels[label] += 1;
}

/** Trust against the threshold of today, whatever it was then; measured accuracy in its place is the calibration tier's matter. */
function passes(
  { threshold, groundingEnforced }: ReadinessStep,
  confidence: number,
  { checkFailed, grounding }: { checkFailed: boolean; grounding: number },
): boolean {
  const grounded = groundingEnforced && !Number.isNaN(grounding) ? Math.min(confidence, grounding) : confidence;
  return (checkFailed ? 0 : grounded) >= (threshold ?? 0);
}

export const marked = ({ marks }: Tally): number => marks.correct + marks.partial + marks.incorrect;

/** Executions that began at `since` or later, and their different runs. */
export function countSince(seen: readonly Seen[], since = -Infinity): { rows: number; runs: number } {
  const has = new Uint8Array(seen.reduce((most, { endRun }) => Math.max(most, endRun), 0));
  let [rows, runs] = [0, 0];
  for (const { columns, begin, end, firstRun } of seen)
    for (let at = begin; at < end; at += 1) {
      if ((columns.startedAt[at] ?? 0) < since) continue;
      const run = firstRun + (columns.run[at] ?? 0);
      rows += 1;
      runs += 1 - (has[run] ?? 1);
      has[run] = 1;
    }
  return { rows, runs };
}

/** Adds `more` to `tally`. */
export function mergeTally(tally: Tally, more: Tally): void {
  for (const one of more.seen) tally.seen.push(one);
  for (const key of ['rows', 'failed', 'answers', 'confidenceSum', 'passed', 'fromChecks', 'fromRuns'] as const)
    tally[key] += more[key];
  tally.marks = addMarks(tally.marks, more.marks);
  for (const [key, { answers, labels }] of more.points) {
    const point = tally.points.get(key) ?? { answers: 0, labels: noMarks() };
    tally.points.set(key, { answers: point.answers + answers, labels: addMarks(point.labels, labels) });
  }
  if (more.firstSeenAt !== null) tally.firstSeenAt = Math.min(tally.firstSeenAt ?? more.firstSeenAt, more.firstSeenAt);
  if (more.lastSeenAt !== null) tally.lastSeenAt = Math.max(tally.lastSeenAt ?? more.lastSeenAt, more.lastSeenAt);
}

const addMarks = (a: Record<Outcome, number>, b: Record<Outcome, number>): Record<Outcome, number> => ({
  correct: a.correct + b.correct,
  partial: a.partial + b.partial,
  incorrect: a.incorrect + b.incorrect,
});
