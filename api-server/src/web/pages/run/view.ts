import type { Pipeline } from '@signalbox/crds';
import { count } from '../format.ts';
import { approvalCard } from '../approvals/card.ts';
import { createRoom } from '../approvals/room.ts';
import { mayOperate } from '../page.ts';
import type { Viewer } from '../../auth/page-auth.ts';
import type { ApprovalLine } from '../../../service/views/approval.ts';
import type { LogLine } from '../../../service/views/run.ts';
import { paths } from '../paths.ts';
import { runTitle } from '../runs/row.ts';
import { isActive, statusLook } from '../status.ts';
import { alertView } from './alert/view.ts';
import { attentionView } from './attention/view.ts';
import { runCommands } from './commands.ts';
import { confirmCancel, confirmRerun } from './confirm.ts';
import { runFacts } from './facts.ts';
import { graphView } from './graph/graph.ts';
import { jsonTree } from './step/json-tree.ts';
import { runLog } from './step/log.ts';
import type { Layout } from './graph/layout.ts';
import { markView } from './step/mark.ts';
import { pinOf } from './step/pin.ts';
import { messageRows } from './messages.ts';
import { noticeOf } from './notice.ts';
import { type PlanNode, planOf } from './graph/plan.ts';
import { resultView } from './result/view.ts';
import { firstByRank } from './first-by-rank.ts';
import { childRows, rerunNote, rerunRows, withWaits } from './step/relations.ts';
import { panelView, type Tab } from './step-panel.ts';
import { timelineView } from './timeline/timeline.ts';
import type { ShownRun, ShownStep } from './step/shown-step.ts';

const LOUD = ['failed', 'aborted', 'escalated', 'stopped'];

/** The step that is open by default: the one that waits for a person, the one that ended the run, the running one, else the last one. */
export function defaultStep(run: ShownRun, approvals: readonly ApprovalLine[] = []): ShownStep | null {
  const done = run.steps.filter((step) => step.status !== 'skipped');
  const asked = approvals.find(({ status }) => status === 'pending')?.step_name;
  return (
    run.steps.find((step) => step.step_name === asked) ??
    run.steps.find((step) => step.step_name === run.error?.step) ??
    done.find((step) => LOUD.includes(step.status)) ??
    done.findLast((step) => step.status === 'running') ??
    done.at(-1) ??
    null
  );
}

const isGroup = ({ kind }: ShownStep): boolean => kind === 'parallel' || kind === 'fan_out';

/** The number of a branch of a fan-out; of other steps 0, so that they stay as they are. */
const itemOf = ({ kind, step_name: name }: ShownStep): number =>
  kind === 'fan_out_branch' ? Number(name.slice(name.lastIndexOf('/') + 1)) : 0;

/** A group before its branches, also in a rerun, where all rows have the same start time. */
const inOrder = (steps: ShownStep[]): ShownStep[] =>
  steps.toSorted(
    (a, b) => a.step_index - b.step_index || Number(isGroup(b)) - Number(isGroup(a)) || itemOf(a) - itemOf(b),
  );

/** Steps with a line of their own. */
const MOST_LINES = 70;

/** Of a run with many branches: those of the chosen group, then those that did not go well, then the first. */
function listedSteps(steps: ShownStep[], chosen: ShownStep | null): ShownStep[] {
  const rank = (step: ShownStep): number => {
    if (step === chosen || step.kind === 'step' || isGroup(step)) return 0;
    if (step.step_index === chosen?.step_index) return 1;
    return step.status === 'completed' || step.status === 'skipped' ? 3 : 2;
  };
  return firstByRank(steps, MOST_LINES, rank);
}

/** The time of the delivery is one of the facts of the run. */
const withoutTime = ({ receivedAt: _ms, received_at: _iso, ...context }: Record<string, unknown>) => context;

export interface RunInput {
  run: ShownRun;
  definition: Pick<Pipeline, 'steps'> | null;
  log: LogLine[];
  /** Approvals of the run, those that wait first. */
  approvals: ApprovalLine[];
  /** Of all approvals of the run. */
  approvalsTotal: number;
  step: string | null;
  tab: Tab;
  /** Show the time of the chosen step alone. */
  zoomed: boolean;
  /** Show the log of the run instead of the timeline. */
  wholeLog: boolean;
  viewer: Viewer | null;
  now: number;
  currency: string;
  layout: Layout;
}

/** An address of this page; defaults are left out. */
function hrefFor(
  { run, tab, wholeLog, zoomed }: RunInput,
  change: { step: string | null; tab?: Tab; wholeLog?: boolean; zoomed?: boolean },
): string {
  const shown = change.tab ?? tab;
  const view = (change.wholeLog ?? wholeLog) ? 'log' : null;
  const zoom = change.step !== null && (change.zoomed ?? zoomed) ? 'step' : null;
  return paths.run(run.id, { step: change.step, tab: shown === 'evidence' ? null : shown, view, zoom });
}

function chosenPanel(input: RunInput, chosen: ShownStep | null, plan: PlanNode[]) {
  if (chosen === null) return null;
  const { run, tab, log, now, currency } = input;
  const name = chosen.step_name;
  const groups = plan.filter(({ kind }) => kind !== 'step');
  const group = groups.find((node) => node.name === name || node.branches.some((branch) => branch.name === name));
  return panelView({
    run,
    step: chosen,
    group: group ?? null,
    tab,
    log,
    approvals: input.approvals,
    operator: mayOperate(input.viewer),
    now,
    currency,
    hrefOf: (id) => hrefFor(input, { step: name, tab: id }),
    stepHref: (step) => hrefFor(input, { step }),
  });
}

/** The approvals of the chosen step as cards, pending ones first, as many whole as have room; they return to the run. */
function cardsOf({ run, approvals, viewer, now }: RunInput, chosen: string | null) {
  const next = paths.run(run.id);
  const of = approvals.filter(({ step_name }) => step_name === chosen);
  const reader = { operator: mayOperate(viewer), name: viewer?.name ?? null, csrf: viewer?.csrf ?? '' };
  const room = createRoom();
  return of.map((one) => room(one, (it) => approvalCard(it, { now, next, ...reader })));
}

/** Whether some that wait are not among those that were read. */
const hasMoreWaiting = ({ approvals, approvalsTotal }: RunInput): boolean =>
  approvals.length < approvalsTotal && approvals.at(-1)?.status === 'pending';

/** Actions of an operator: cancel an active run, mark and rerun one that has ended. */
function actions({ run, viewer }: RunInput) {
  const operator = mayOperate(viewer);
  if (isActive(run.status)) return { mark: null, rerun: null, cancel: operator ? confirmCancel(run) : null };
  const action = paths.runFeedback(run.id);
  const isBatch = run.replay_of !== undefined;
  return {
    // The answers of a batch of replays are judged one by one, on its report.
    mark:
      (operator && !isBatch) || run.feedback
        ? markView({ mark: run.feedback, step: null, operator, action, keys: true })
        : null,
    rerun: operator && !isBatch ? confirmRerun(run, null) : null,
    cancel: null,
  };
}

function whyNoStep({ steps, status }: ShownRun): string | null {
  if (steps.length > 0) return null;
  return isActive(status) ? 'The first step has not started yet.' : 'No step of this run started.';
}

const whyNotAll = (listed: number, all: number): string | null =>
  listed === all ? null : `${listed} of ${count(all)} steps and branches. Choose a group to see its branches.`;

const whyNotAllRuns = (listed: number, all: number): string | null =>
  listed === all ? null : `${listed} of ${count(all)} sub-runs. The step that started one of the others leads to it.`;

/** The page of one run: facts, graph, timeline and the chosen step. */
export function runView(given: RunInput) {
  const input = { ...given, run: withWaits(given.run, given.approvals) };
  const { run, now, log, wholeLog } = input;
  const plan = planOf(input.definition, run.steps);
  const chosen = run.steps.find((step) => step.step_name === input.step) ?? defaultStep(run, input.approvals);
  const name = chosen?.step_name ?? null;
  const hrefOf = (step: string) => hrefFor(input, { step });
  const shown = listedSteps(inOrder(run.steps), chosen);
  const children = childRows(run, now);
  const offered = {
    attention: attentionView(run, mayOperate(input.viewer)),
    ...actions(input),
    panel: chosenPanel(input, chosen, plan),
  };
  const explicit = run.steps.some((step) => step.step_name === input.step) ? name : null;
  return {
    id: run.id,
    runsPath: paths.runs(),
    title: runTitle(run),
    status: statusLook(run.status, run.waiting_on),
    stream: isActive(run.status) ? paths.runStream(run.id) : null,
    result: resultView(run),
    notice: noticeOf(run),
    ...offered,
    commands: runCommands(run.id, offered),
    facts: runFacts(run, input),
    alert: alertView(run),
    report: run.replay_of === undefined ? null : paths.replay(run.id),
    graph: graphView(run.replay_of === undefined ? plan : [], {
      runStatus: run.status,
      chosen: name,
      now,
      hrefOf,
      layout: input.layout,
    }),
    timeline: timelineView({
      run,
      steps: shown,
      approvals: input.approvals,
      log,
      now,
      chosen: name,
      hrefOf,
      pinOf: (step) => pinOf(run, step),
      zoomed: input.zoomed,
      zoomHref: (zoomed) => hrefFor(input, { step: name, zoomed }),
    }),
    unlisted: whyNotAll(shown.length, run.steps.length),
    waitingForStep: whyNoStep(run),
    approvals: cardsOf(input, name),
    moreApprovals: hasMoreWaiting(input),
    approvalsPath: paths.approvals(),
    views: [
      { label: 'Time', href: hrefFor(input, { step: explicit, wholeLog: false }), current: !wholeLog },
      { label: 'Log', href: hrefFor(input, { step: explicit, wholeLog: true }), current: wholeLog },
    ],
    wholeLog: wholeLog ? runLog(log, hrefOf) : null,
    rerunOf: rerunNote(run),
    reruns: rerunRows(run, now),
    children,
    unlistedChildren: whyNotAllRuns(children.length, run.children.length),
    messages: messageRows(run, { now, operator: mayOperate(input.viewer) }),
    messagesPath: paths.runMessages(run.id),
    context: run.context === null ? null : jsonTree(withoutTime(run.context)),
  };
}
