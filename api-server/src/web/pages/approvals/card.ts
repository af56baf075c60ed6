import { apiPath } from '../curl.ts';
import { age, duration, exactTime, shorten } from '../format.ts';
import { paths } from '../paths.ts';
import { actionWords } from '../runs/result/view.ts';
import { plural, runTitle, trustBar } from '../runs/row.ts';
import { severityTone, type StatusLook } from '../status.ts';
import type { RunLine } from '../../../service/views/run.ts';
import { inputTree } from './input-tree.ts';
import { type ApprovalField, type ApprovalLine, indentedJson, readableText } from '../../../service/views/approval.ts';

export interface CardInput {
  now: number;
  operator: boolean;
  /** Under which name the reader would decide; null for nobody. */
  name: string | null;
  csrf: string;
  /** Address to return to after the decision. */
  next: string;
  /** Problems of the sent form, by field. */
  problems?: ReadonlyMap<string, string>;
  /** The run that asks. */
  run?: RunLine | undefined;
  entered?: Readonly<Record<string, string>>;
}

const LOOKS: Record<ApprovalLine['status'], StatusLook> = {
  pending: { icon: 'waiting', word: 'Waiting', tone: 'wait' },
  approved: { icon: 'completed', word: 'Approved', tone: 'good' },
  rejected: { icon: 'aborted', word: 'Rejected', tone: 'bad' },
  timed_out: { icon: 'interrupted', word: 'Timed out', tone: 'quiet' },
  cancelled: { icon: 'cancelled', word: 'Not needed', tone: 'quiet' },
};

/** An approval as a card: question, deadline, and the form or the decision (Orchestration 3). */
export function approvalCard(approval: ApprovalLine, input: CardInput) {
  const pending = approval.status === 'pending';
  return {
    id: approval.id,
    look: LOOKS[approval.status],
    pipeline: approval.pipeline,
    step: approval.step_name,
    team: approval.team,
    testing: approval.stage === 'testing',
    href: paths.run(approval.run_id, { step: approval.step_name }),
    page: paths.approval(approval.id),
    question: approval.tool === null ? readableText(approval.question.trim()) : '',
    short: shortOf(approval),
    about: aboutOf(approval, input.run),
    who: whoOf(approval),
    ...evidenceOf(input.run),
    tool: approval.tool && toolView(approval.tool),
    asked: exactTime(approval.requested_at),
    pending,
    until: pending ? approval.expires_at : null,
    left: pending ? leftOf(approval.expires_at, input.now) : '',
    untilExact: exactTime(approval.expires_at),
    ...(pending ? waitingParts(approval, input) : { form: null, readOnly: null, rules: [] }),
    ended: pending ? null : endOf(approval, input.now),
  };
}

function waitingParts(approval: ApprovalLine, input: CardInput) {
  const mayDecide = input.operator && isApprover(approval, input);
  return {
    form: mayDecide ? formOf(approval, input) : null,
    readOnly: mayDecide ? null : whyReadOnly(approval, input),
    rules: rulesOf(approval),
  };
}

const isApprover = ({ approvers }: ApprovalLine, { name }: CardInput): boolean =>
  approvers === null || (name !== null && approvers.includes(name));

const whyReadOnly = ({ approvers }: ApprovalLine, { operator }: CardInput): string =>
  operator && approvers !== null
    ? `Only ${approvers.join(', ')} may decide this.`
    : 'Deciding needs a token with the role operator.';

/** Who may decide, in a few words. */
function whoOf({ approvers, required }: ApprovalLine): string {
  const names = approvers === null ? 'any operator' : approvers.join(', ');
  return shorten(required > 1 ? `${required} of ${names}` : names, 60);
}

/** What the run had found when it asked. */
function evidenceOf(run: RunLine | undefined) {
  if (run === undefined) return { severity: null, evidence: null };
  const { severity, result, warning_count: warnings } = run;
  return {
    severity: severity === null ? null : { word: severity, tone: severityTone(severity) },
    evidence: {
      summary: runTitle(run),
      conclusion: result?.conclusion ?? null,
      actions: result === null ? [] : actionWords(result),
      step: result === null ? null : { name: result.step_name, href: paths.run(run.id, { step: result.step_name }) },
      trust: result === null ? null : trustBar(result.trust, result.threshold, true),
      warnings: warnings === 0 ? null : plural(warnings, 'warning'),
    },
  };
}

/** What an approval needs beyond one person, and who approved so far. */
function rulesOf({ required, approved_by: approvedBy, not_the_starter: notTheStarter }: ApprovalLine): string[] {
  const so = approvedBy.length === 0 ? '' : ` ${approvedBy.join(', ')} approved.`;
  return [
    ...(required > 1 ? [`${required} persons have to approve.${so}`] : []),
    ...(notTheStarter ? ['The person who started the run may not approve.'] : []),
  ];
}

/** The question in one line, to distinguish several of one step. */
function shortOf({ tool, question }: ApprovalLine): string {
  const [line = ''] = readableText(question.trimStart().slice(0, 1_000)).split('\n', 1);
  const text = tool === null ? line.trim() : `${tool.agent} wants to call ${tool.server}/${tool.tool}`;
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

/** What the run is about, where the question does not say it. */
const aboutOf = (approval: ApprovalLine, run: RunLine | undefined): string => {
  const summary = run?.summary ?? '';
  return shortOf(approval).includes(summary) ? '' : shorten(summary, 80);
};

const toolView = ({ agent, server, tool, input, input_sha256, reason }: NonNullable<ApprovalLine['tool']>) => ({
  agent,
  name: `${server}/${tool}`,
  reason,
  // Never shortened: the decision covers the whole input.
  input: indentedJson(input),
  tree: inputTree(input),
  sha256: input_sha256,
});

/** `14 m 05 s left`, `59 s left`, or `time is over`. */
export function leftOf(expires: string, now: number): string {
  const seconds = Math.ceil((Date.parse(expires) - now) / 1000);
  if (seconds <= 0) return 'time is over';
  return `${seconds < 60 ? `${seconds} s` : duration(seconds)} left`;
}

const ENDINGS = { approved: 'approved by', rejected: 'rejected by' } as const;

function endOf({ status, decided_by, decided_at, comment, answers }: ApprovalLine, now: number) {
  const who = status === 'approved' || status === 'rejected' ? `${ENDINGS[status]} ${decided_by ?? ''}` : WHY[status];
  const values = Object.entries(answers ?? {}).map(([name, value]) => ({ name, value: String(value) }));
  const at = decided_at === null ? { exact: '', age: '' } : { exact: exactTime(decided_at), age: age(decided_at, now) };
  return { who, at: decided_at, ...at, comment, values };
}

const WHY: Record<string, string> = {
  timed_out: 'no decision in time',
  cancelled: 'the run ended before a decision',
};

function formOf({ id, fields }: ApprovalLine, { csrf, next, problems, entered }: CardInput) {
  return {
    action: paths.approval(id),
    command: {
      label: 'Copy as curl',
      path: apiPath('approvals', id),
      body: { decision: 'approve', fields: presetsOf(fields) },
    },
    csrf,
    next,
    comment: entered?.['comment'] ?? '',
    fields: fields.map((field) => fieldView(id, field, { problem: problems?.get(field.name) ?? null, entered })),
  };
}

/** What the form sends as it is first shown. */
const presetsOf = (fields: readonly ApprovalField[]): Record<string, unknown> =>
  Object.fromEntries(fields.flatMap(({ name, default: preset }) => (preset === undefined ? [] : [[name, preset]])));

interface Entered {
  problem: string | null;
  entered: CardInput['entered'];
}

function fieldView(id: string, field: ApprovalField, { problem, entered }: Entered) {
  const value = entered?.[field.name] ?? (field.default === undefined ? '' : String(field.default));
  const choices = field.options ?? (field.type === 'boolean' ? [true, false] : null);
  return {
    id: `${id}-${field.name}`,
    name: `field.${field.name}`,
    label: field.name.replaceAll('_', ' '),
    description: field.description ?? null,
    required: field.required,
    value,
    number: field.type === 'integer' || field.type === 'number',
    step: field.type === 'integer' ? '1' : 'any',
    choices: choices && choicesOf(choices, value, field.required),
    problem,
  };
}

const WORDS: Record<string, string> = { true: 'Yes', false: 'No' };

function choicesOf(choices: readonly (string | number | boolean)[], value: string, required: boolean) {
  const none = required && value !== '' ? [] : [{ value: '', label: '–', selected: value === '' }];
  const given = choices.map((choice) => ({
    value: String(choice),
    label: typeof choice === 'boolean' ? (WORDS[String(choice)] ?? '') : String(choice),
    selected: String(choice) === value,
  }));
  return [...none, ...given];
}
