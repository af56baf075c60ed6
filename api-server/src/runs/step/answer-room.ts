import type { ActiveRun } from '../state/active-run.ts';
import { MAX_ANSWERS, sizeOfAnswer } from '../state/charged.ts';
import type { DailyBytes } from '../state/daily-bytes.ts';
import { failure, type Failure } from '../state/executor.ts';
import { viewBytes } from '../state/held.ts';
import { createShares } from '../state/shares.ts';
import type { StepContext } from '../state/step-context.ts';
import type { CallFacts, Performed } from '../state/step-kind.ts';

const TOO_MUCH = failure(
  'output_invalid',
  'the answers of this run, with text, trace and 4 KiB for each artifact, take more than 16 MiB together: ask for shorter answers, or move steps to a pipeline that this one starts',
);

const NO_ROOM = failure(
  'output_invalid',
  'the answers of this run and its sub-runs, or of all runs of its namespace, that have not ended hold too much memory: let steps answer less, start fewer sub-runs at once, decide approvals, or cancel runs',
);

/** Answers of so many bytes always have room, above all what people decide. */
const SMALL = 1024;

/** Of a result beside what it says, in bytes. */
const RESULT_BYTES = 512;

/** What an answer leaves beside itself: what the step keeps of earlier ones until its end, and files. */
interface Beside {
  earlier: number;
  files: number;
}

/** What steps answered, as runs hold it until they end. */
export interface AnswerRoom {
  /** Before an answer is weighed, when it is not compressed yet; why it has no room, or null. */
  take(run: ActiveRun, stepName: string, size: number, beside?: Beside): Failure | null;
  /** Counts what the run holds of a step that has ended. */
  note(run: ActiveRun, stepName: string): void;
  /** Counts what a run holds that goes on; false, and it counts nothing, where that has no room. */
  restore(run: ActiveRun): boolean;
  /** Once a run has ended. */
  drop(run: ActiveRun): void;
  isFull(namespace: string | null): boolean;
}

/** In bytes, as `createShares` takes them. */
export function createAnswerRoom(ofRun: number, ofOperator: number, dailyBytes: DailyBytes): AnswerRoom {
  const shares = createShares(ofRun, ofOperator);
  const more = ({ answers: { kept } }: ActiveRun, stepName: string, size: number) => size - (kept.get(stepName) ?? 0);
  const keep = (run: ActiveRun, stepName: string, size: number) => {
    shares.add(run, more(run, stepName, size));
    run.answers.kept.set(stepName, size);
  };
  return {
    take: (run, stepName, size, { earlier, files } = { earlier: 0, files: 0 }) => {
      const held = size + earlier;
      const fits = held <= SMALL || shares.fits(run, more(run, stepName, held));
      const refused = fits ? size + files > SMALL && dailyBytes(run, size + files) : NO_ROOM;
      if (refused) return refused;
      keep(run, stepName, held);
      return null;
    },
    note: (run, stepName) => {
      const view = run.results.get(stepName);
      if (view) keep(run, stepName, RESULT_BYTES + viewBytes(view));
    },
    restore: (run) => {
      const size = run.results.values().reduce((sum, view) => sum + viewBytes(view), 0);
      if (size > SMALL && !shares.fits(run, size)) return false;
      for (const [name, view] of run.results) keep(run, name, RESULT_BYTES + viewBytes(view));
      return true;
    },
    drop: (run) => {
      shares.add(run, -run.answers.kept.values().reduce((sum, size) => sum + size, 0));
      run.answers.kept.clear();
    },
    isFull: shares.isFull,
  };
}

/** `facts`: of earlier attempts and iterations, whose trace the step keeps. */
export type Answering = Pick<StepContext, 'run' | 'name'> & { facts?: CallFacts | null };

const NOTHING_SAID = { output: null, summary: null, nextStepContext: null, artifacts: [], artifactTexts: {} };

const traceChars = (facts: CallFacts | null): number => (facts?.raw.trace ? JSON.stringify(facts.raw.trace).length : 0);

const filesOf = (texts: Record<string, string>): number =>
  Object.values(texts).reduce((sum, text) => sum + FILE_BYTES + text.length, 0);

/** What a file takes beside its text, in bytes: a disk has an inode for so many. */
const FILE_BYTES = 16 * 1024;
/** What an artifact counts for among the answers of its run beside its name: some thousands have room, all in one folder. */
const ARTIFACT = 4 * 1024;

/** An answer for which its run, or those that it counts with, have no room left is none: nothing of it is kept but what it used. What people or a time decided is no answer. */
export const withinRoom = (room: AnswerRoom, answering: Answering, performed: Performed): Performed =>
  !performed.ok && performed.ends !== undefined ? performed : weighed(room, answering, performed);

function weighed(room: AnswerRoom, { run, name, facts: earlier = null }: Answering, performed: Performed): Performed {
  const { facts, request } = performed;
  const said = { ...NOTHING_SAID, ...performed.answer };
  const size = sizeOfAnswer(facts?.raw ?? null, said);
  const charged = size + Object.keys(said.artifactTexts).length * ARTIFACT;
  run.answers.size += charged;
  const isTooMuch = charged > SMALL && run.answers.size > MAX_ANSWERS;
  const beside = { earlier: traceChars(earlier), files: filesOf(said.artifactTexts) };
  const refused = isTooMuch ? TOO_MUCH : room.take(run, name, size, beside);
  if (!refused) return facts ? { ...performed, facts: { ...facts, raw: { ...facts.raw, charged } } } : performed;
  return { ...refused, ...(facts && { facts: lean(facts) }), ...(request && { request }) };
}

function lean(facts: CallFacts): CallFacts {
  const { prompt, promptSpans, iterations, toolCalls, childRunId } = facts.raw;
  return { ...facts, raw: { prompt, promptSpans, iterations, toolCalls, childRunId } };
}
