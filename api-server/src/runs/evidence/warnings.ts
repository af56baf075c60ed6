import type { Step } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import type { RawResponse, SecondOpinion, TrustReport, TrustWarning } from '../state/model.ts';
import { failure, type Failure } from '../state/executor.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Begun, Ending } from './step-execution.ts';

/** Notes in the run's log and for the step's evidence what a text of a step could not find. */
export const noteMissing =
  (what: string, { run, name }: { run: Pick<ActiveRun, 'journal' | 'blanks'>; name: string }) =>
  (value: string): void => {
    run.journal.add('warn', 'template_missing_value', `${what} uses a value that does not exist: ${value}`, {
      step_name: name,
      value,
    });
    noteBlank(run, { name, what, value });
  };

/** For the evidence alone: the log of a resumed run has the line already. */
export function noteBlank({ blanks }: Pick<ActiveRun, 'blanks'>, blank: { name: string; what: string; value: string }) {
  const { name, what, value } = blank;
  const ofStep = blanks.get(name) ?? new Map<string, Set<string>>();
  blanks.set(name, ofStep.set(what, (ofStep.get(what) ?? new Set()).add(value)));
}

/** Ends a step whose author wants no blanks; null where it may go on. */
export function refuseBlanks({ run, step, name }: Pick<StepContext, 'run' | 'step' | 'name'>): Failure | null {
  const own = 'on_missing_value' in step ? step.on_missing_value : undefined;
  if ((own ?? run.pipeline.on_missing_value) !== 'fail') return null;
  const blanks = [...(run.blanks.get(name) ?? [])].map(([what, values]) => `${what} uses ${[...values].join(', ')}`);
  if (blanks.length === 0) return null;
  return failure('missing_value', `${blanks.join('; ')}, which does not exist (on_missing_value: fail)`);
}

/** The ending with its warnings in its report; a step that ended before its gate gets a report for them. */
export function withWarnings(begun: Begun, ending: Ending): Ending {
  const warnings = warningsOf(begun, ending);
  if (warnings.length === 0) return ending;
  begun.run.totals.warningCount += warnings.length;
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
}

/** Names at most this many tools. */
const MAX_NAMED = 5;

function deniedTools({ trace = [] }: RawResponse): TrustWarning[] {
  const lines = trace as TraceLine[];
  const denied = lines.filter(({ type }) => type === 'tool_denied');
  if (denied.length === 0) return [];
  const tools = [...new Set(denied.map(({ server, tool }) => `${String(server)}/${String(tool)}`))];
  const named = tools.slice(0, MAX_NAMED).join(', ') + (tools.length > MAX_NAMED ? ', …' : '');
  const none = lines.every(({ type }) => type !== 'tool_call') ? ', so the agent used no tool' : '';
  return [warning('denied_tools', `${plural(denied.length, 'tool call')} denied: ${named}${none}`)];
}

/** What a run does after the step has failed. */
export const policyOf = ({ on_failure: given }: Pick<Step, 'on_failure'>) =>
  typeof given === 'string' ? given : given.policy;
