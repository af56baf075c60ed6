import { inputSha256 } from '@signalbox/crds';
import { derivedId } from '../state/ids.ts';
import { callText } from '../human/call-text.ts';
import { pendingApproval, type Approval, type ApprovalsOfRun } from '../human/approval.ts';
import type { Failure, ToolDecision, ToolRequest } from '../state/executor.ts';
import { sizeOfValues } from '../state/size-of-values.ts';
import type { Attempt } from '../state/step-kind.ts';
import type { StepContext } from '../state/step-context.ts';

export interface Asking {
  ctx: StepContext;
  /** Fires when the call that asks is over. */
  signal: AbortSignal;
  attempt: Pick<Attempt, 'store' | 'hold'>;
  /** For the texts of its messages: many agents may ask at once. */
  turn(run: StepContext['run']): Promise<void>;
  /** When the step's time is over, in milliseconds. */
  deadline: number;
  now: number;
}

/** Asks people whether an agent may call a tool; the same question after a lost connection or a restart is the same one. */
export async function askForTool(
  approvals: ApprovalsOfRun,
  asking: Asking,
  request: ToolRequest,
): Promise<ToolDecision> {
  const { ctx, signal, attempt, turn } = asking;
  const { store } = attempt;
  const { run, name } = ctx;
  // Of a large input it takes long.
  const hash = inputSha256(request.input);
  const id = questionId(ctx, request, hash);
  // Where the database is away, the question is stored once it is back, and what is stored of it is read then.
  const known = await approvals.find(id).catch(() => null);
  if (known && known.status !== 'pending') return decisionOf(known);
  const approval = known ?? questionOf({ id, hash }, asking, request);
  using held = attempt.hold(sizeOf(approval, known !== null));
  if (held.refused) return notAsked(approval, held.refused);
  const fields = { step_name: name, approval_id: id, server: request.server, tool: request.tool };
  const tool = `${request.server}/${request.tool}`;
  await turn(run);
  // Nothing may store the line before the question.
  if (!known)
    run.journal.add('info', 'approval_requested', `${request.agent} waits for approval to call ${tool}`, fields);
  await store(approvals.ask(run, approval));
  const closed = await approvals.answer(approval, { signal, store });
  const decision = decisionOf(closed);
  if (closed.status === 'timed_out')
    run.journal.add('warn', 'approval_expired', `the approval of ${tool} expired without a decision`, fields);
  if (closed.decidedBy !== null) {
    const decided = { ...fields, decision: closed.status, decided_by: closed.decidedBy, comment: closed.comment };
    run.journal.add('info', 'approval_decided', `${tool} was ${closed.status} by ${closed.decidedBy}`, decided);
  }
  await store(approvals.goesOn(run));
  return decision;
}

/** Of a question beside its text and its input, which counts twice: its row, who waits for it, its lines in the log. */
const QUESTION_CHARS = 6 * 1024;

/** Of its text and its input, both of which are stored where they are not yet; the input is read, too. */
const sizeOf = ({ question, tool }: Approval, isStored: boolean) => ({
  sends: QUESTION_CHARS + question.length + sizeOfValues(tool?.input ?? null),
  stores: isStored ? 0 : 2 * question.length,
  goesOn: isStored,
});

const notAsked = ({ tool }: Approval, { message }: Failure): ToolDecision => ({
  inputSha256: tool?.inputSha256 ?? '',
  approved: false,
  decidedBy: null,
  comment: `nobody was asked: ${message}`,
});

/** A UUID that is made of all that makes the question. Models number their calls, and a number may come twice. */
const questionId = ({ run, name }: StepContext, request: ToolRequest, hash: string): string => {
  const { backendRunId, callId, agent, server, tool } = request;
  const parts = [run.id, name, backendRunId, callId, agent, server, tool, hash];
  return derivedId(run.id, JSON.stringify(parts));
};

function questionOf(
  { id, hash }: { id: string; hash: string },
  { ctx, deadline, now }: Asking,
  request: ToolRequest,
): Approval {
  const { agent, server, tool, input, reason, backendRunId } = request;
  return pendingApproval(ctx, {
    id,
    kind: 'tool',
    question: `May ${agent} call ${callText(request)}${reason === null ? '' : `\n${reason}`}`,
    fields: [],
    tool: { agent, server, tool, input, inputSha256: hash, reason, backendRunId },
    requestedAt: now,
    expiresAt: deadline,
  });
}

function decisionOf({ status, decidedBy, comment, tool }: Approval): ToolDecision {
  const hash = { inputSha256: tool?.inputSha256 ?? '' };
  switch (status) {
    case 'approved':
    case 'rejected':
      return { ...hash, approved: status === 'approved', decidedBy, comment };
    case 'timed_out':
      return { ...hash, approved: false, decidedBy: null, comment: 'the approval expired without a decision' };
    case 'pending':
    case 'cancelled':
      return { ...hash, approved: false, decidedBy: null, comment: 'the approval was cancelled' };
    default:
      return status satisfies never;
  }
}
