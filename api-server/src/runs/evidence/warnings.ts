import type { Step } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { RawResponse, SecondOpinion, TrustReport, TrustWarning } from '../state/model.ts';
import { textOf, toolName } from './ground.ts';
import type { Begun, Ending } from './step-execution.ts';

/** The ending of a step with what there is to warn of it. */
export const withWarnings = (begun: Begun, ending: Ending): Ending =>
  addWarnings(begun.run, ending, warningsOf(begun, ending));

/** The ending with these warnings in its report; a step that ended before its gate gets a report for them. */
export function addWarnings<T extends Pick<Ending, 'report'>>(
  run: Pick<ActiveRun, 'totals'>,
  ending: T,
  warnings: TrustWarning[],
): T {
  if (warnings.length === 0) return ending;
  run.totals.warningCount += warnings.length;
  return { ...ending, report: { ...(ending.report ?? NO_GATE), warnings } };
}

const NO_GATE: TrustReport = {
  signals: [],
  trust: null,
  threshold: null,
  passed: null,
  action: 'pass',
  sentence: 'The step ended before its gate.',
};

/** What a person should know of a step beside its signals: it changes no trust. */
function warningsOf(begun: Begun, { status, error, raw: gathered }: Ending): TrustWarning[] {
  const { step, attempt } = begun;
  const raw: RawResponse = { ...begun.facts?.raw, ...gathered };
  const continued = status === 'failed' && policyOf(step) === 'continue';
  return [
    ...(error?.type === 'missing_value' ? [] : blankValues(begun)),
    ...when(continued, 'continued_failure', 'the step failed, and the run went on without its result'),
    ...when(attempt > 1, 'failed_attempts', `${plural(attempt - 1, 'attempt')} failed before the last one`),
    ...deniedTools(raw),
    ...cutTrace(raw),
    ...(raw.warnings ?? []).map((message) => warning('tools_unavailable', message)),
    ...failedOpinion('verifier_failed', 'the verifier gave no verdict', raw.verifier),
    ...failedOpinion('grounding_failed', 'the grounding judge gave no score', raw.grounding),
  ];
}

const blankValues = ({ run, name }: Begun): TrustWarning[] =>
  [...(run.blanks.get(name) ?? [])].map(([what, values]) =>
    warning('blank_values', `${what} went out with blanks: there is no ${[...values].join(', ')}`),
  );

const failedOpinion = (type: TrustWarning['type'], what: string, opinion?: SecondOpinion): TrustWarning[] =>
  when(opinion?.error !== undefined, type, `${what}: ${opinion?.error}`);

const warning = (type: TrustWarning['type'], message: string): TrustWarning => ({ type, message });

const when = (holds: boolean, type: TrustWarning['type'], message: string): TrustWarning[] =>
  holds ? [warning(type, message)] : [];

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

interface TraceLine {
  type?: unknown;
  server?: unknown;
  tool?: unknown;
  left_out?: unknown;
}

/** Names at most this many tools. */
const MAX_NAMED = 5;
/** Characters of the type of an entry. */
const MAX_TYPE = 100;

function deniedTools({ trace = [] }: RawResponse): TrustWarning[] {
  const lines = trace as TraceLine[];
  const denied = lines.filter(({ type }) => type === 'tool_denied');
  if (denied.length === 0) return [];
  const count = denied.reduce((sum, line) => sum + 1 + leftOut(line), 0);
  const none = lines.every(({ type }) => type !== 'tool_call') ? ', so the agent used no tool' : '';
  return [warning('denied_tools', `${plural(count, 'tool call')} denied: ${named(denied.map(toolName))}${none}`)];
}

function cutTrace({ trace = [], traceCut = false }: RawResponse): TrustWarning[] {
  const short = (trace as TraceLine[]).filter((line) => leftOut(line) > 0);
  const counts = short.map((line) => `${leftOut(line)} of ${toolName(line)} (${textOf(line.type).slice(0, MAX_TYPE)})`);
  const entries = counts.length > 0 ? `, among them ${named(counts)}` : '';
  return when(traceCut, 'trace_cut', `the trace lacks entries, or their inputs and results${entries}`);
}

const leftOut = ({ left_out: count }: TraceLine): number =>
  typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : 0;

function named(names: readonly string[]): string {
  const different = [...new Set(names)];
  return different.slice(0, MAX_NAMED).join(', ') + (different.length > MAX_NAMED ? ', …' : '');
}

/** What a run does after the step has failed. */
export const policyOf = ({ on_failure: given }: Pick<Step, 'on_failure'>) =>
  typeof given === 'string' ? given : given.policy;
