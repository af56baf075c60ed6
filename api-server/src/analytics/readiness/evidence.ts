import type { Stage } from '../../runs/state/model.ts';
import { outcomeOf } from '../accuracy.ts';
import type { ReadinessStep } from './steps.ts';

export type Outcome = 'correct' | 'partial' | 'incorrect';

/** Whose executions are evidence. */
export interface EvidenceOf {
  pipeline: string;
  stage: Stage;
}

/** The executions of some runs, all of one run together. */
export interface EvidenceBatch {
  runs: number;
  rows: EvidenceRow[];
}

/** One execution as the store gives it; `run` is the sequence of its run. Times are milliseconds. */
export interface EvidenceRow {
  run: number;
  stepName: string;
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
  status: string;
  errorType: string | null;
  /** After the verifier. */
  confidence: number | null;
  grounding: number | null;
  checksPassed: boolean | null;
  startedAt: number;
  /** The mark of the step, and that of its run. */
  stepOutcome: Outcome | null;
  runOutcome: Outcome | null;
}

export interface Combo {
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
}

/** How many answers had one confidence, and what the labelled ones of them are. */
export interface Point {
  answers: number;
  labels: Record<Outcome, number>;
}

/** One execution; `at` in milliseconds. */
export interface Seen {
  run: number;
  at: number;
  status: string;
  failed: boolean;
}

/** What is counted of executions; the sum of two is that of their parts. */
export interface Tally {
  runs: Set<number>;
  rows: number;
  failed: number;
  /** The executions one by one, for what depends on their age and status. */
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
  /** That of the row which was added last. */
  last: ByCombo | null;
  /** Executions that failed before anybody said which version of the agent it was. */
  unversioned: EvidenceRow[];
  /** Of the newest execution that has them. */
  newest: { at: number; promptHash: string | null } | null;
  newestVersion: { at: number; agentVersion: string | null } | null;
}

const noMarks = (): Record<Outcome, number> => ({ correct: 0, partial: 0, incorrect: 0 });

export const emptyTally = (): Tally => ({
  runs: new Set(),
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

/** Reads rows into the evidence of the steps they belong to; a branch of a fan-out counts under the name before the slash. */
export function createEvidence(steps: readonly ReadinessStep[]): {
  add(row: EvidenceRow): void;
  of(name: string): StepEvidence;
} {
  const byName = new Map(steps.map((step) => [step.name, { step, evidence: emptyEvidence() }]));
  return {
    add: (row) => {
      const [family = row.stepName, branch] = row.stepName.split('/');
      const found = byName.get(family);
      if (!found || (found.step.kind === 'fan_out') !== (branch !== undefined)) return;
      addTo(found.evidence, found.step, row);
    },
    of: (name) => byName.get(name)?.evidence ?? emptyEvidence(),
  };
}

const emptyEvidence = (): StepEvidence => ({
  combos: new Map(),
  last: null,
  unversioned: [],
  newest: null,
  newestVersion: null,
});

/** What ended without a word on whether the step does its work: nothing is learned from it. */
const NO_EVIDENCE = new Set(['running', 'skipped', 'cancelled']);

function addTo(evidence: StepEvidence, step: ReadinessStep, row: EvidenceRow): void {
  if (NO_EVIDENCE.has(row.status)) return;
  const { startedAt: at, promptHash, agentVersion } = row;
  if (promptHash !== null && isNewer(at, evidence.newest)) evidence.newest = { at, promptHash };
  if (step.agent !== null && agentVersion === null && isFailure(row)) {
    evidence.unversioned.push(row);
    return;
  }
  if (isNewer(at, evidence.newestVersion)) evidence.newestVersion = { at, agentVersion };
  addRow(tallyOf(evidence, row), step, row);
}

function tallyOf(evidence: StepEvidence, row: Combo): Tally {
  const { agent, provider, model, promptHash, agentVersion } = row;
  // Most executions have the combination of the one before.
  if (evidence.last !== null && isSame(evidence.last.combo, row)) return evidence.last.tally;
  const combo = { agent, provider, model, promptHash, agentVersion };
  const key = JSON.stringify(Object.values(combo));
  const known = evidence.combos.get(key) ?? { combo, tally: emptyTally() };
  evidence.combos.set(key, known);
  evidence.last = known;
  return known.tally;
}

const isSame = (a: Combo, b: Combo): boolean =>
  a.model === b.model &&
  a.agentVersion === b.agentVersion &&
  a.promptHash === b.promptHash &&
  a.provider === b.provider &&
  a.agent === b.agent;

const isNewer = (at: number, than: { at: number } | null): boolean => than === null || at >= than.at;

/** A gate that held back and a person who said no did their work. */
const HELD_BACK = new Set(['gate', 'rejected', 'branch']);
const isFailure = ({ status, errorType }: EvidenceRow): boolean =>
  status === 'failed' || ((status === 'aborted' || status === 'escalated') && !HELD_BACK.has(errorType ?? 'gate'));

export function addRow(tally: Tally, step: ReadinessStep, row: EvidenceRow): void {
  tally.runs.add(row.run);
  tally.rows += 1;
  const failed = isFailure(row);
  if (failed) tally.failed += 1;
  tally.seen.push({ run: row.run, at: row.startedAt, status: row.status, failed });
  tally.firstSeenAt = Math.min(tally.firstSeenAt ?? row.startedAt, row.startedAt);
  tally.lastSeenAt = Math.max(tally.lastSeenAt ?? row.startedAt, row.startedAt);
  const label = outcomeOf(row);
  if (label !== null) {
    tally.marks[label] += 1;
    if (row.stepOutcome === null) tally[row.checksPassed === false ? 'fromChecks' : 'fromRuns'] += 1;
  }
  if (row.confidence === null) return;
  if (passes(step, row.confidence, row)) tally.passed += 1;
  addAnswer(tally, row.confidence, label);
}

function addAnswer(tally: Tally, confidence: number, label: Outcome | null): void {
  tally.answers += 1;
  const key = Math.round(confidence * POINTS);
  tally.confidenceSum += key;
  const point = tally.points.get(key) ?? { answers: 0, labels: noMarks() };
  tally.points.set(key, point);
  point.answers += 1;
  if (label !== null) point.labels[label] += 1;
}

/** Trust against the threshold of today, whatever it was then; measured accuracy in its place is the calibration tier's matter. */
function passes(
  { threshold, groundingEnforced }: ReadinessStep,
  confidence: number,
  { checksPassed, grounding }: Pick<EvidenceRow, 'checksPassed' | 'grounding'>,
): boolean {
  const grounded = groundingEnforced && grounding !== null ? Math.min(confidence, grounding) : confidence;
  return (checksPassed === false ? 0 : grounded) >= (threshold ?? 0);
}

export const marked = ({ marks }: Tally): number => marks.correct + marks.partial + marks.incorrect;

/** Adds `more` to `tally`. */
export function mergeTally(tally: Tally, more: Tally): void {
  for (const run of more.runs) tally.runs.add(run);
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
