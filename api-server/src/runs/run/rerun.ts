import {
  type HumanStep,
  isFanOut,
  isParallel,
  type ItemStep,
  limitedNamespace,
  type Pipeline,
  type Step,
} from '@signalbox/crds';
import { admits } from '../../definitions/admits.ts';
import type { LoadedPipeline, Snapshot } from '../../definitions/snapshot.ts';
import { policyOf } from '../evidence/warnings.ts';
import { byEnd } from '../state/end-order.ts';
import type { RawResponse, Stage, StepExecution, TriggerContext } from '../state/model.ts';
import { isTerminal, type RunStatus } from '../state/model.ts';
import { type RunRequest, teamOf } from '../state/new-run.ts';
import { asks, asksPeople, entriesOf } from './asks-people.ts';
import { branchesOf, executedOf, executionsOf } from './branches-of.ts';

/** What tells of an execution whether people were asked in it, or below it. */
export interface Executed extends Pick<StepExecution, 'id' | 'stepName' | 'executor' | 'status'> {
  rawResponse: Pick<RawResponse, 'childRunId' | 'loaded'> | null;
}

/** A run below another one, as it was executed. */
export interface SubRun {
  pipelineName: string;
  executed: readonly Executed[];
  /** Whether people rejected one of its steps. */
  isRejected?: boolean;
}

/** What is stored of the run that shall run again. */
export interface Original {
  id: string;
  status: RunStatus;
  pipelineName: string;
  stage: Stage;
  context: TriggerContext;
  /** The namespace that is stored with the run; null where it counts towards none. */
  namespace: string | null;
  steps: StepExecution[];
  /** Its sub-runs, and theirs, by their ids. */
  below: ReadonlyMap<string, SubRun>;
}

/** An answer of people that a rerun takes over, and the step that asks for it now. */
export interface TakenApproval {
  /** Of the approval: of the execution that asked, whose result reruns pass on. */
  id: string;
  step: Pick<HumanStep, 'required' | 'not_the_starter' | 'on_timeout'>;
  /** The top-level entry that holds the step. */
  entry: string;
}

export interface ReadyRerun {
  kind: 'ready';
  request: Omit<RunRequest, 'dedupKey'>;
  fromStep: string | null;
  priorSteps: number;
  /** Whether they hold for this rerun is left to judge: that depends on who asks for it. */
  approvals: TakenApproval[];
}

export type Rerun = ReadyRerun | { kind: 'running' | 'suspended' } | { kind: 'invalid'; message: string };

/**
 * Prepares a rerun with the pipeline's current definition: from the start, or from a top-level entry with the
 * results of the entries before it. The new run has no team and, like a sub-run, no fingerprint: a repeat of the alert is
 * compared with the runs that deliveries started (Orchestration 4.1, 4.2).
 */
export function planRerun(snapshot: Snapshot, original: Original, fromStep: string | null): Rerun {
  if (!isTerminal(original.status)) return { kind: 'running' };
  const pipeline = snapshot.byName.get(original.pipelineName);
  if (!pipeline) return { kind: 'invalid', message: `pipeline "${original.pipelineName}" is not loaded any more` };
  if (pipeline.config.suspend) return { kind: 'suspended' };
  const foreign = refusedTo(pipeline, original, fromStep);
  if (foreign !== null)
    return { kind: 'invalid', message: `pipeline "${pipeline.name}" is of another namespace now; ${foreign}` };
  const prior = fromStep === null ? [] : priorSteps(snapshot, pipeline.config, original, fromStep);
  if (typeof prior === 'string') return { kind: 'invalid', message: prior };
  const context = { ...original.context, fingerprint: null };
  const request = { pipeline, context, team: teamOf(pipeline, null), rerunOf: original.id, prior };
  const approvals = takenApprovals(snapshot, pipeline.config.steps, original, fromStep);
  return { kind: 'ready', request, fromStep, priorSteps: prior.length, approvals };
}

/** The sub-runs of which a plan has to know who was asked in them, and below them: those of steps that it takes over and that ask people now. */
export function subRunsToRead(snapshot: Snapshot, original: Omit<Original, 'below'>, fromStep: string): string[] {
  if (!isTerminal(original.status)) return [];
  const entries = snapshot.byName.get(original.pipelineName)?.config.steps ?? [];
  return entriesBefore(entries, fromStep)
    .filter((entry) => asksPeople(snapshot, entry))
    .flatMap((entry) => executionsOf(entry, original.steps))
    .flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []);
}

/** None where there is no entry of this name. */
const entriesBefore = (entries: readonly Step[], fromStep: string | null): readonly Step[] =>
  entries.slice(
    0,
    Math.max(
      0,
      entries.findIndex(({ name }) => name === fromStep),
    ),
  );

/**
 * What is left to do where the pipeline is not of the run's namespace: its author gets no results of others, and no alert that would not have
 * reached it.
 */
function refusedTo(pipeline: LoadedPipeline, original: Original, fromStep: string | null): string | null {
  if (original.namespace === limitedNamespace(pipeline.standing)) return null;
  if (!admits(pipeline, { ...original.context, team: null }))
    return 'it does not get this alert (tenancy.namespaces), start it by hand';
  return fromStep === null ? null : 'rerun from the start';
}

/** The executions before the entry, in the order of their end, or why they cannot be had. */
function priorSteps(
  snapshot: Snapshot,
  { steps: entries, stage }: Pick<Pipeline, 'steps' | 'stage'>,
  { steps: executed, stage: before, below }: Original,
  fromStep: string,
): StepExecution[] | string {
  const { byName } = executedOf(executed);
  const resultOf = ({ name }: Step): StepExecution | null => {
    const own = byName.get(name);
    return own && own.completedAt !== null ? own : null;
  };
  const asking: Asking = { snapshot, executed, below };
  const at = entries.findIndex(({ name }) => name === fromStep);
  if (at === -1) {
    const open = entries.findIndex((entry) => !resultOf(entry));
    const names = entries.slice(0, open === -1 ? entries.length : open + 1).map(({ name }) => name);
    return `${whyNot(entries, byName.has(fromStep), fromStep)}; this run can be rerun from ${names.join(', ')}`;
  }
  const found: StepExecution[] = [];
  for (const [stepIndex, entry] of entries.slice(0, at).entries()) {
    const own = resultOf(entry);
    if (!own) return `the original run has no result of step "${entry.name}"`;
    const other = executedOtherwise(snapshot, entry, executed);
    if (other) return `${other}; rerun from step "${entry.name}" or from a step before it`;
    const refused = asksPeople(snapshot, entry) && notApproved(isApproved(asking, entry, own), { before, stage });
    if (refused) return `step "${entry.name}" asks people and ${refused}; rerun from it or from a step before it`;
    const ended = [...branchesOf(entry, executed).toSorted(byEnd), own];
    found.push(...ended.map((step) => (step.stepIndex === stepIndex ? step : { ...step, stepIndex })));
  }
  return found;
}

/** What was decided in testing is no decision about production. */
function notApproved(approved: boolean, { before, stage }: { before: Stage; stage: Stage }): string | null {
  if (!approved) return 'was not approved';
  return before === 'testing' && stage === 'production' ? 'was approved in stage testing' : null;
}

/** A step that is of another kind now than the execution of its name, or asks people and did not run: that result is not its own. */
function executedOtherwise(snapshot: Snapshot, entry: Step, executed: readonly Executed[]): string | null {
  const { byName } = executedOf(executed);
  const branches = isParallel(entry) ? entry.parallel.steps : [];
  const unasked = branches.find((branch) => !byName.has(branch.name) && asks(snapshot, branch));
  if (unasked) return `the original run has no result of step "${unasked.name}"`;
  const kind = isParallel(entry) ? 'parallel' : isFanOut(entry) ? 'fan_out' : entry.executor;
  for (const { name, executor } of [{ name: entry.name, executor: kind }, ...branches, ...itemsOf(entry, executed)]) {
    const was = byName.get(name)?.executor;
    if (was !== undefined && was !== executor)
      return `step "${name}" was of kind ${was} and is of kind ${executor} now`;
  }
  return null;
}

/** The branches that a fan-out had, as it would execute them now. */
function itemsOf(entry: Step, executed: readonly Executed[]): { name: string; executor: string }[] {
  if (!isFanOut(entry)) return [];
  const { executor } = entry.fan_out.step;
  return branchesOf(entry, executed).map(({ stepName: name }) => ({ name, executor }));
}

interface Asking extends Pick<Original, 'below'> {
  snapshot: Snapshot;
  executed: readonly Executed[];
}

/** Whether people let a run go on after an entry that asks them now. */
function isApproved(asking: Asking, entry: Step, own: Executed): boolean {
  const { snapshot, executed } = asking;
  if (!isPassed(entry, own) || branchesLeftOut(snapshot, entry, executed)) return false;
  return [own, ...branchesOf(entry, executed)].every((execution) => {
    const step = stepFor(entry, execution);
    const isOpen = step !== undefined && asks(snapshot, step) && !PASSED.has(endOf(execution));
    return !isOpen && isApprovedBelow(asking, step, execution);
  });
}

/** Ends of a question, or of a sub-run with questions, after which a group may go on. */
const PASSED: ReadonlySet<string> = new Set(['completed', 'skipped', 'failed']);

/** Whether the sub-run of a step that completed asked all the people whom its pipeline asks now. */
function isApprovedBelow({ snapshot, below }: Asking, step: ItemStep | undefined, execution: Executed): boolean {
  if (isRejectedIn(below, execution)) return false;
  if (step?.executor !== 'pipeline' || endOf(execution) !== 'completed') return true;
  const executed = executedBelow({ below }, step, execution);
  const { byName } = executedOf(executed);
  const entries = entriesOf(snapshot, step);
  const stoppedAt = entries.findIndex(({ name }) => byName.get(name)?.status === 'stopped');
  return entries.every((entry, at) => {
    if (!asksPeople(snapshot, entry)) return true;
    const own = byName.get(entry.name);
    if (own === undefined) return stoppedAt !== -1 && at > stoppedAt;
    return (
      executedOtherwise(snapshot, entry, executed) === null && isApproved({ snapshot, executed, below }, entry, own)
    );
  });
}

/** Also where its end does not say so. */
function isRejectedIn(below: Asking['below'], { rawResponse }: Pick<Executed, 'rawResponse'>): boolean {
  const subRun = below.get(rawResponse?.childRunId ?? '');
  return subRun !== undefined && (subRun.isRejected || subRun.executed.some((step) => isRejectedIn(below, step)));
}

/** The answers of people that the entries before this one hold, and the sub-runs of these. */
function takenApprovals(
  snapshot: Snapshot,
  entries: readonly Step[],
  { steps: executed, below }: Original,
  fromStep: string | null,
): TakenApproval[] {
  return entriesBefore(entries, fromStep).flatMap((entry) =>
    answersIn({ snapshot, executed, below }, [entry]).map((answer) => ({ ...answer, entry: entry.name })),
  );
}

type PeopleAnswer = Omit<TakenApproval, 'entry'>;

function answersIn(asking: Asking, entries: readonly Step[]): PeopleAnswer[] {
  return entries.flatMap((entry) =>
    executionsOf(entry, asking.executed).flatMap((execution) =>
      answersOf(asking, stepFor(entry, execution), execution),
    ),
  );
}

function answersOf(asking: Asking, step: ItemStep | undefined, execution: Executed): PeopleAnswer[] {
  if (endOf(execution) !== 'completed') return [];
  if (step?.executor === 'human') return [{ id: originOf(execution), step }];
  if (step?.executor !== 'pipeline') return [];
  return answersIn({ ...asking, executed: executedBelow(asking, step, execution) }, entriesOf(asking.snapshot, step));
}

const originOf = ({ id, rawResponse }: Executed): string => rawResponse?.loaded?.stepId ?? id;

/** None where the step starts another pipeline now. */
function executedBelow(
  { below }: Pick<Asking, 'below'>,
  { pipeline }: { pipeline: string },
  { rawResponse }: Executed,
): readonly Executed[] {
  const subRun = below.get(rawResponse?.childRunId ?? '');
  return subRun?.pipelineName === pipeline ? subRun.executed : [];
}

/** Whether the run went on after an entry by itself; of a result that was taken over, as it was where it was made. */
function isPassed(entry: Step, own: Executed): boolean {
  const ended = endOf(own);
  if (ended === 'skipped') return maySkip(entry);
  return ended === 'completed' || (ended === 'failed' && policyOf(entry) === 'continue');
}

const endOf = ({ status, rawResponse }: Executed): string => rawResponse?.loaded?.status ?? status;

/** Whether a condition that is gone left out a branch that asks people. */
function branchesLeftOut(snapshot: Snapshot, entry: Step, executed: readonly Executed[]): boolean {
  const leftOut = branchesOf(entry, executed).filter((branch) => endOf(branch) === 'skipped');
  const steps = leftOut.map((branch) => stepFor(entry, branch));
  return steps.some((step) => step !== undefined && step.when === undefined && asks(snapshot, step));
}

/** What an execution of an entry, or of a branch of it, would execute now; undefined for a group. */
function stepFor(entry: Step, { stepName }: Executed): ItemStep | undefined {
  if (isParallel(entry)) return entry.parallel.steps.find(({ name }) => name === stepName);
  if (isFanOut(entry)) return stepName === entry.name ? undefined : entry.fan_out.step;
  return entry;
}

/** Whether a condition of its own, or an empty list, still lets a run pass by. */
const maySkip = (entry: Step): boolean => isFanOut(entry) || entry.when !== undefined;

function whyNot(entries: readonly Step[], executed: boolean, fromStep: string): string {
  const group = entries.find((entry) => isBranchOf(entry, fromStep));
  if (group) return `"${fromStep}" is a branch of step "${group.name}"`;
  return executed ? `the pipeline has no step "${fromStep}" any more` : `the run has no step "${fromStep}"`;
}

function isBranchOf(entry: Step, stepName: string): boolean {
  if (isParallel(entry)) return entry.parallel.steps.some(({ name }) => name === stepName);
  return isFanOut(entry) && stepName.startsWith(`${entry.name}/`);
}
