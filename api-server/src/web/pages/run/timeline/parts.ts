import type { ApprovalLine } from '../../../../service/views/approval.ts';
import type { LogLine, RunLine } from '../../../../service/views/run.ts';
import type { StepPart } from '../../../../service/views/step.ts';
import { requestText, whyFailed } from '../step/requests.ts';
import type { ShownStep } from '../step/shown-step.ts';
import { readTrace, type TraceLine } from '../step/trace.ts';
import type { Span } from './axis.ts';
import { liveParts } from './live-parts.ts';
import { ATTEMPT_NAMES, inOrder, part, type Part, type PartKind } from './part.ts';

/** What else is known of the run of a step. */
export interface Around {
  steps: readonly ShownStep[];
  approvals: readonly ApprovalLine[];
  children: readonly RunLine[];
  log: readonly LogLine[];
}

const ms = (iso: string): number => Date.parse(iso);

/** Where the time of a step went, from what is stored of it; a step that did not run here has no parts. */
export function partsOf(step: ShownStep, around: Around): Part[] {
  if (step.status === 'skipped' || step.raw_response?.loaded !== undefined) return [];
  const raw = step.raw_response;
  const trace = readTrace(raw?.trace);
  const asked = around.approvals.filter(({ step_name: name }) => name === step.step_name);
  const counted = countedIn(raw?.parts ?? []);
  const stored = (raw?.parts ?? []).map((one) => storedPart(one, step, counted)).filter((one) => one !== null);
  const live = step.status === 'running' ? liveParts(step, around.log) : [];
  return inOrder([
    ...turnOf(step, around.steps),
    ...stored,
    ...live,
    ...asked.map((one) => approvalPart(one, step)),
    ...calls(step, trace, asked),
    ...opinions(step),
    ...checks(step),
    ...subRun(step, around.children),
  ]);
}

/** What is shorter is the work of the service itself, in milliseconds. */
const SHORTEST_TURN = 20;

/** A branch that began later than its group waited for its turn. */
function turnOf({ kind, step_name: name, step_index: index, started_at: at }: ShownStep, steps: readonly ShownStep[]) {
  if (kind !== 'branch' && kind !== 'fan_out_branch') return [];
  const group = steps.find((one) => one.step_index === index && (one.kind === 'parallel' || one.kind === 'fan_out'));
  if (group === undefined || ms(at) - ms(group.started_at) < SHORTEST_TURN) return [];
  return [
    part({ kind: 'queue', label: `Turn of ${name} in ${group.step_name}`, from: ms(group.started_at), to: ms(at) }),
  ];
}

const ATTEMPTS: Partial<Record<ShownStep['executor'], PartKind>> = {
  gateway: 'agent',
  external: 'agent',
  webhook: 'webhook',
  pipeline: 'sub_run',
};

const WAITS: Record<Exclude<StepPart['part'], 'attempt' | 'failure_webhook'>, { kind: PartKind; label: string }> = {
  pause: { kind: 'pause', label: 'Pause before the next attempt' },
  queue: { kind: 'queue', label: 'Queue of the backend' },
  slot: { kind: 'slot', label: 'Wait for a slot' },
  before_restart: { kind: 'restart', label: 'Before the service started again' },
};

function storedPart(one: StepPart, step: ShownStep, counted: Counted): Part | null {
  const times = { from: ms(one.started_at), to: ms(one.ended_at) };
  const note = noteOf(one);
  if (one.part === 'failure_webhook')
    return part({ kind: 'webhook', label: 'on_failure.webhook', ...times, note, failed: one.error !== undefined });
  if (one.part !== 'attempt') return part({ ...WAITS[one.part], ...times });
  const kind = ATTEMPTS[step.executor];
  if (kind === undefined) return null;
  const label = attemptLabel(kind, step, { one, counted });
  return part({ kind, label, ...times, note, failed: one.error !== undefined, holds: kind === 'agent' });
}

function noteOf(one: StepPart): string {
  if (!one.request) return one.error ?? '';
  return [requestText(one.request), whyFailed(one)].filter((text) => text !== '').join(' · ');
}

/** Of what a step has several. */
interface Counted {
  iterations: boolean;
  attempts: boolean;
}

function countedIn(parts: readonly StepPart[]): Counted {
  const attempts = parts.filter((one) => one.part === 'attempt');
  return {
    iterations: attempts.some(({ iteration }) => iteration > 1),
    attempts: attempts.some(({ attempt }) => attempt > 1),
  };
}

/** Counts iterations and attempts only where there are several. */
function attemptLabel(
  kind: PartKind,
  { agent }: ShownStep,
  { one, counted }: { one: StepPart; counted: Counted },
): string {
  const words = [
    ...(counted.iterations ? [`iteration ${one.iteration}`] : []),
    ...(counted.attempts ? [`attempt ${one.attempt}`] : []),
  ].join(', ');
  const name = ATTEMPT_NAMES[kind] ?? agent ?? 'Agent';
  return words === '' ? name : `${name}, ${words}`;
}

const WORDS: Record<ApprovalLine['status'], string> = {
  pending: 'not decided yet',
  approved: 'approved',
  rejected: 'rejected',
  timed_out: 'no decision in time',
  cancelled: 'closed without a decision',
};

function approvalPart({ tool, requested_at, decided_at, status, decided_by: by }: ApprovalLine, step: ShownStep): Part {
  const end = decided_at ?? (status === 'pending' ? null : step.completed_at);
  return part({
    kind: 'approval',
    label: tool === null ? 'Approval' : `Approval of ${tool.server} / ${tool.tool}`,
    from: ms(requested_at),
    to: end === null ? null : ms(end),
    note: by === null ? WORDS[status] : `${WORDS[status]} by ${by}`,
    failed: status === 'rejected' || status === 'timed_out',
  });
}

/**
 * What the backend says that it did, within the time of the step: its clock may be another one. An approval that was stored
 * here is the same wait, so only those that somebody else answered are added.
 */
function calls(step: ShownStep, trace: readonly TraceLine[], asked: readonly ApprovalLine[]): Part[] {
  const within = { from: ms(step.started_at), to: step.completed_at === null ? Infinity : ms(step.completed_at) };
  const unseen = asked.flatMap(({ tool }) => (tool === null ? [] : [toolName(tool)]));
  return trace.flatMap((line) => {
    const stored = line.type === 'approval' ? unseen.indexOf(toolName(line)) : -1;
    if (stored === -1) return callPart(line, within);
    unseen.splice(stored, 1);
    return [];
  });
}

const toolName = ({ server, tool }: { server: string; tool: string }): string =>
  [server, tool].filter((text) => text !== '').join(' / ');

function callPart(line: TraceLine, { from: first, to: last }: Span): Part[] {
  if (line.startedAt === null) return [];
  const from = Math.min(Math.max(line.startedAt, first), last);
  const times = { from, to: Math.min(from + line.seconds * 1000, last) };
  const about = { ...times, note: line.reason, failed: line.failed === true };
  const tool = toolName(line);
  switch (line.type) {
    case 'llm_call':
      return [part({ kind: 'model', label: line.model === '' ? 'Model' : line.model, ...about })];
    case 'tool_call':
      return [part({ kind: 'tool', label: tool === '' ? 'Tool' : tool, ...about })];
    case 'approval':
      return [part({ kind: 'approval', label: `Approval of ${tool}`, ...about })];
    default:
      return [];
  }
}

function opinions({ raw_response: raw }: ShownStep): Part[] {
  return (['verifier', 'grounding'] as const).flatMap((kind) => {
    const said = raw?.[kind];
    if (said?.started_at === undefined || said.ended_at === undefined) return [];
    const times = { from: ms(said.started_at), to: ms(said.ended_at) };
    const label = `${kind === 'verifier' ? 'Verifier' : 'Grounding judge'}: ${said.agent}`;
    return [part({ kind, label, ...times, note: said.error ?? '', failed: said.error !== undefined })];
  });
}

const checks = ({ checks: all }: ShownStep): Part[] =>
  all.flatMap(({ name, passed, started_at: at, duration_seconds: seconds, request }) => {
    if (at === undefined) return [];
    const times = { from: ms(at), to: ms(at) + seconds * 1000 };
    const note = request ? requestText(request) : '';
    return [part({ kind: 'check', label: `Check: ${name}`, ...times, note, failed: !passed })];
  });

/** The time of the sub-run itself, where the attempt that started it is not stored. */
function subRun({ raw_response: raw }: ShownStep, children: readonly RunLine[]): Part[] {
  const child = children.find(({ id }) => id === raw?.child_run_id);
  if (child === undefined || raw?.parts !== undefined) return [];
  const to = child.completed_at === null ? null : ms(child.completed_at);
  return [part({ kind: 'sub_run', label: 'Sub-run', from: ms(child.triggered_at), to })];
}
