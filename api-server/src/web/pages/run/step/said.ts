import { plural } from '../../runs/row.ts';
import type { ShownStep } from './shown-step.ts';
import { readTrace } from './trace.ts';

/** Rows of an older version lack this. */
export const NOT_RECORDED = 'not recorded before version 0.2.0';

/**
 * What the page of a step says where it has nothing to show. Each sentence stands for evidence that is there; where there is
 * none, it says that this is not known. A test has a row for each of them.
 */
export const SAID = {
  tools: {
    skipped: 'The step was skipped, so no agent was asked.',
    running: 'The step still runs; its tool calls appear here when it ends.',
    notAsked: 'No agent was asked, so no tool was called.',
    noTool: 'The agent called no tool.',
    noTrace: 'The agent called tools, and its backend sent no trace of them.',
    unreported:
      'It is not known whether the agent called a tool: its backend did not say what it did in every attempt.',
    notKnown: 'It is not known whether the agent called a tool: nothing is stored of what it did.',
  },
  cost: {
    loaded: 'The result is of an earlier run, which paid for it.',
    skipped: 'The step did not run.',
    running: 'The step has not ended.',
    notAsked: 'No agent was asked, so there is nothing to pay.',
    noModel: 'No model was called, so there is nothing to pay.',
    unreported: 'It is not known what was used: the backend did not say what it did in every attempt.',
    old: `What failed calls used was ${NOT_RECORDED}.`,
    notKnown: 'No tokens were reported for this step.',
  },
  prompt: {
    skipped: 'The step was skipped, so no prompt was made.',
    notAsked: 'The step ended before a prompt was sent.',
    notKnown: 'No prompt is stored for this step.',
  },
  output: {
    skipped: 'The step was skipped, so it has no output.',
    running: 'The step still runs; its output appears here when it ends.',
    notKnown: 'No output is stored for this step.',
  },
} as const;

const isLoaded = ({ raw_response: raw }: ShownStep): boolean => raw?.loaded !== undefined;

/** A step that has not ended here; a result that was taken over is one of an ended step. */
function openOf(step: ShownStep): 'skipped' | 'running' | null {
  if (isLoaded(step)) return null;
  return step.status === 'skipped' || step.status === 'running' ? step.status : null;
}

/** Whether its executor was asked at all; null where that is not stored, or happened before a restart. */
export function wasAsked({ raw_response: raw }: ShownStep): boolean | null {
  const parts = raw?.parts;
  if (raw?.trace !== undefined || raw?.text !== undefined) return true;
  if (parts === undefined) return null;
  if (parts.some(({ part }) => part === 'attempt')) return true;
  return parts.some(({ part }) => part === 'before_restart') ? null : false;
}

/** Attempts of which the backend said nothing; work before a restart counts as one. */
export const isUnreported = ({ raw_response: raw }: ShownStep): boolean =>
  (raw?.parts ?? []).some(({ part, unreported }) => unreported === true || part === 'before_restart');

/**
 * Whether the trace speaks for the whole call. A gateway counts what it did in every answer; another backend that names no
 * call of a model sent no trace.
 */
function isReported({ executor, raw_response: raw }: ShownStep): boolean {
  if (raw?.trace === undefined) return false;
  const counts = executor === 'gateway' && raw.tool_calls !== undefined;
  return counts || readTrace(raw.trace).some(({ type }) => type === 'llm_call');
}

/** Why the page lists no call of a tool. */
export function whyNoTools(step: ShownStep): string {
  const { tools } = SAID;
  const open = openOf(step);
  if (open !== null) return tools[open];
  if (wasAsked(step) === false) return tools.notAsked;
  if ((step.raw_response?.tool_calls ?? 0) > 0) return tools.noTrace;
  if (isUnreported(step)) return tools.unreported;
  return isReported(step) ? tools.noTool : tools.notKnown;
}

/** What a list of calls leaves out; empty where nothing is missing. */
export function missingTools(step: ShownStep, listed: number): string[] {
  const counted = step.raw_response?.tool_calls ?? 0;
  return [
    ...(counted > listed ? [`${plural(counted - listed, 'more call')} of a tool: not in the trace.`] : []),
    ...(isUnreported(step) ? ['What the agent did in other attempts is not known.'] : []),
  ];
}

/** Why a step has neither a cost nor tokens. */
export function whyNoTokens(step: ShownStep): string {
  const { cost } = SAID;
  const open = openOf(step);
  if (open !== null) return cost[open];
  if (isLoaded(step)) return cost.loaded;
  if (wasAsked(step) === false) return cost.notAsked;
  if (isUnreported(step)) return cost.unreported;
  if (step.usage === null) return cost.old;
  const { iterations, trace } = step.raw_response ?? {};
  const called = readTrace(trace).some(({ type }) => type === 'llm_call');
  return iterations === 0 && !called && isReported(step) ? cost.noModel : cost.notKnown;
}

/** What a cost leaves out; empty where nothing is missing. */
export const missingCost = (step: ShownStep): string =>
  isUnreported(step) ? '. It is the least: what the backend did not report is not in it.' : '';

export function whyNoPrompt(step: ShownStep): string {
  const { prompt } = SAID;
  const open = openOf(step);
  if (open === 'skipped') return prompt.skipped;
  return open === null && wasAsked(step) === false ? prompt.notAsked : prompt.notKnown;
}

export function whyNoOutput(step: ShownStep): string {
  const { output } = SAID;
  const open = openOf(step);
  return open === null ? output.notKnown : output[open];
}
