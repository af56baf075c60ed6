import { count, duration, secondsBetween } from '../format.ts';
import { paths } from '../paths.ts';
import { isActive, stepLook } from '../status.ts';
import type { ApprovalLine } from '../../../service/views/approval.ts';
import type { LogLine } from '../../../service/views/run.ts';
import { branchesView } from './graph/branches.ts';
import { costView } from './step/cost.ts';
import { evidenceView } from './step/evidence.ts';
import { jsonTree } from './step/json-tree.ts';
import { stepLog } from './step/log.ts';
import { markView } from './step/mark.ts';
import type { PlanNode } from './graph/plan.ts';
import { promptParts } from './step/prompt.ts';
import { pinOf } from './step/pin.ts';
import { confirmRerun } from './confirm.ts';
import { isEntry, subRunOf } from './step/relations.ts';
import { missingTools, whyNoOutput, whyNoPrompt, whyNoTools } from './step/said.ts';
import { type ToolCallView, toolCalls } from './step/tool-calls.ts';
import type { ShownRun, ShownStep } from './step/shown-step.ts';

export const TABS = ['evidence', 'prompt', 'output', 'tools', 'log', 'cost'] as const;
export type Tab = (typeof TABS)[number];
export const asTab = (value: unknown): Tab => TABS.find((tab) => tab === value) ?? 'evidence';

/** Only agents have a prompt, tool calls and a price. */
const TABS_OF: Record<string, readonly Tab[]> = {
  parallel: ['evidence', 'output', 'log'],
  fan_out: ['evidence', 'output', 'log'],
  pipeline: ['evidence', 'output', 'log'],
  webhook: ['evidence', 'output', 'log'],
  human: ['evidence', 'prompt', 'output', 'log'],
};
const tabsOf = ({ executor }: ShownStep): readonly Tab[] => TABS_OF[executor] ?? TABS;

const LABELS: Record<Tab, string> = {
  evidence: 'Evidence',
  prompt: 'Prompt',
  output: 'Output',
  tools: 'Tool calls',
  log: 'Log',
  cost: 'Cost',
};
/** Error type of the gate, which the evidence explains. */
const GATE = 'gate';
const MAX_PROMPT = 60_000;

/** The entry of the prompt in the history of its step; items of a fan-out share theirs. */
function versionOf({ prompt_hash: hash, step_name: name }: ShownStep) {
  if (hash === null) return null;
  return { hash, href: `${paths.step(name.split('/', 1)[0] ?? name)}#prompt-${encodeURIComponent(hash)}` };
}

/** What is highlighted in a prompt, as far as that was stored. */
function promptLegend({ raw_response: raw }: ShownStep): string {
  if (raw?.prompt_spans === undefined) return 'Which parts of it are values is not stored.';
  return raw.prompt_spans.length === 0
    ? 'No value was put into it.'
    : 'Highlighted: values put in from the alert, earlier steps and variables.';
}

function promptView(step: ShownStep) {
  const prompt = step.raw_response?.prompt ?? null;
  if (prompt === null) return { parts: null, none: whyNoPrompt(step), legend: '', cut: null, version: null };
  const cut =
    prompt.length > MAX_PROMPT ? `${count(prompt.length - MAX_PROMPT)} characters more; the API has them all` : null;
  return {
    parts: promptParts(prompt.slice(0, MAX_PROMPT), step.raw_response?.prompt_spans),
    none: '',
    legend: promptLegend(step),
    cut,
    version: versionOf(step),
  };
}

function outputView(step: ShownStep) {
  return {
    tree: step.output === null ? null : jsonTree(step.output),
    text:
      step.output === null ? (step.raw_response?.text ?? step.raw_response?.http?.body ?? '').slice(0, MAX_PROMPT) : '',
    none: whyNoOutput(step),
  };
}

export interface PanelInput {
  run: ShownRun;
  step: ShownStep;
  /** The group that the step is or belongs to. */
  group: PlanNode | null;
  tab: Tab;
  log: LogLine[];
  /** Approvals of the run. */
  approvals: readonly ApprovalLine[];
  operator: boolean;
  now: number;
  currency: string;
  hrefOf: (tab: Tab) => string;
  stepHref: (step: string) => string;
}

const toolsView = (step: ShownStep, calls: ToolCallView[]) => ({
  calls,
  notes: calls.length === 0 ? [] : missingTools(step, calls.length),
  none: whyNoTools(step),
});

const CLOSED = { evidence: null, branches: null, prompt: null, output: null, tools: null, log: null, cost: null };

/** What each tab shows; only the open one is built. */
const BODIES: Record<
  Tab,
  (input: PanelInput, calls: ToolCallView[]) => Partial<Record<keyof typeof CLOSED, object | null>>
> = {
  evidence: ({ step, group, now, stepHref }) => ({
    evidence: evidenceView(step),
    branches: group !== null && group.name === step.step_name ? branchesView(group, { now, hrefOf: stepHref }) : null,
  }),
  prompt: ({ step }) => ({ prompt: promptView(step) }),
  output: ({ step }) => ({ output: outputView(step) }),
  tools: ({ step }, calls) => ({ tools: toolsView(step, calls) }),
  log: ({ step, log }) => ({ log: stepLog(log, step.step_name) }),
  cost: ({ step, currency }) => ({ cost: costView(step, currency) }),
};

const UNMARKABLE = ['skipped', 'running'];

function markOf({ run, step, operator }: PanelInput) {
  if (UNMARKABLE.includes(step.status) || (!operator && step.feedback === null)) return null;
  const action = paths.runFeedback(run.id);
  return markView({ mark: step.feedback, step: step.step_name, operator, action });
}

function durationOf({ status, started_at, completed_at }: ShownStep, now: number): string {
  if (status === 'skipped') return '';
  return duration(secondsBetween(started_at, completed_at ?? (status === 'running' ? now : null)));
}

/** The form for a rerun that keeps the results of earlier entries. */
const rerunFrom = ({ run, step, operator }: PanelInput) =>
  operator && !isActive(run.status) && isEntry(step) ? confirmRerun(run, step) : null;

/** The panel of the chosen step: facts, the open tab and the mark. */
export function panelView(input: PanelInput) {
  const { run, step, group } = input;
  const tabs = tabsOf(step);
  const tab = tabs.includes(input.tab) ? input.tab : 'evidence';
  const calls = toolCalls(step, input.approvals);
  const badges: Partial<Record<Tab, string>> = calls.length > 0 ? { tools: String(calls.length) } : {};
  return {
    name: step.step_name,
    status: stepLook(step),
    partOf:
      group === null || group.name === step.step_name
        ? null
        : { name: group.name, href: group.row === null ? null : input.stepHref(group.name) },
    subRun: subRunOf(run, step),
    artifacts: step.artifacts.map((name) => ({ name, href: paths.runArtifact(run.id, step.step_name, name) })),
    facts: [step.executor.replace('_', '-'), step.agent, step.model].filter((fact) => fact !== null).join(' · '),
    duration: durationOf(step, input.now),
    since: step.status === 'running' ? step.started_at : null,
    summary: step.summary ?? null,
    error: step.error?.type === GATE ? null : step.error,
    tabs: tabs.map((id) => ({
      id,
      label: LABELS[id],
      href: input.hrefOf(id),
      current: id === tab,
      badge: badges[id] ?? null,
    })),
    ...CLOSED,
    ...BODIES[tab](input, calls),
    mark: markOf(input),
    rerun: rerunFrom(input),
    pin: pinOf(run, step),
    replay: paths.replayNew({ step: step.step_name.split('/', 1)[0] }),
  };
}
