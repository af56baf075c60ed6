import { startOf, type ToolApprovalResult } from '@signalbox/crds';
import type { PolicyCall, PolicyDecision } from '../policy/policy.ts';
import type { ToolCallOptions, ToolOutcome } from '../tools/tool.ts';
import type { EmitRunEvent } from './run-event.ts';
import { wasCancelled } from './run-outcome.ts';
import type { RunSpan } from '../observability/span.ts';
import { parseToolInput } from '../models/tool-input.ts';
import type { OfferedTool, ToolOffer } from './tool-offer.ts';
import { NO_SERVER, type Trace } from './trace.ts';

export const NO_OBJECT = 'the arguments must be a JSON object';
export const NO_TOOL = 'the agent has no such tool';
const MAX_NAME_CHARS = 100;

/** The name of a tool that is not there, without signs that take six bytes each as JSON. */
export const inventedName = (name: string): string =>
  startOf(name.slice(0, MAX_NAME_CHARS).replace(/\p{C}/gu, '?'), MAX_NAME_CHARS);

/** A call as a model wrote it. */
export interface RequestedCall {
  id: string;
  name: string;
  /** JSON text of the arguments. */
  input: string;
}

/** The result as the model gets it. */
export interface ToolAnswer {
  text: string;
  isError: boolean;
}

export interface ApprovalRequest {
  call_id: string;
  server: string;
  tool: string;
  input: unknown;
  reason: string | null;
}

export interface CountedCall {
  /** Null where a pod says that it made the call. */
  run_id: string | null;
  server: string;
  tool: string;
  agent: string;
  outcome: ToolOutcome['kind'] | 'denied' | 'cancelled';
  seconds: number;
}

export interface DoorDeps {
  decide: (call: PolicyCall & { callId: string }) => PolicyDecision | Promise<PolicyDecision>;
  call: (
    server: string,
    tool: string,
    input: Record<string, unknown>,
    options: ToolCallOptions,
  ) => Promise<ToolOutcome>;
  /** Asks a human over the connection of the run; rejects when `signal` aborts. */
  requestApproval: (request: ApprovalRequest, signal: AbortSignal) => Promise<ToolApprovalResult>;
  onCall: (call: CountedCall) => void;
  /** Makes an allowed call in a slot of the run; absent where runs have none. */
  inSlot?: <Result>(call: () => Promise<Result>) => Promise<Result>;
  toolTimeoutMs: number;
  resultMaxChars: number;
}

export interface DoorContext {
  runId: string;
  agent: string;
  offer: ToolOffer;
  signal: AbortSignal;
  span: RunSpan;
  emit: EmitRunEvent;
  trace: Trace;
}

/**
 * The one way from a model to a tool: look up the pair that was offered, ask the policy, ask a human where one must
 * be asked, call, record. Every failure is an error answer to the model; it rejects only when the run has ended.
 */
export async function callTool(requested: RequestedCall, context: DoorContext, deps: DoorDeps): Promise<ToolAnswer> {
  const offered = context.offer.byName.get(requested.name);
  if (!offered) {
    const name = inventedName(requested.name);
    recordDenial({ call_id: requested.id, server: NO_SERVER, tool: name }, NO_TOOL, context, deps);
    return { text: `there is no tool "${name}"`, isError: true };
  }
  const input = parseToolInput(requested.input);
  const { server, tool } = offered;
  const fields = { call_id: requested.id, server, tool };
  const asked = { server, tool, agent: context.agent, input: input ? JSON.stringify(input) : requested.input };
  const decision = await deps.decide({ ...asked, callId: requested.id });
  if (decision.action === 'deny') return deny(fields, decision.reason ?? 'denied by the tool policy', context, deps);
  if (!input) return deny(fields, NO_OBJECT, context, deps);
  if (decision.action === 'require_approval' || offered.needsApproval) {
    const refused = refusalOf(await askHuman({ ...fields, input, reason: decision.reason }, context, deps));
    if (refused !== null) return deny(fields, refused, context, deps);
  }
  const make = () => dispatch({ ...fields, input }, context, deps);
  const { kind, text } = await (deps.inSlot ? deps.inSlot(make) : make());
  return { text, isError: kind !== 'ok' };
}

export type CallFields = { call_id: string } & Pick<OfferedTool, 'server' | 'tool'>;
type Recording = Omit<DoorContext, 'offer'>;

/** Makes a call that is allowed, and records it. */
export async function dispatch(
  call: CallFields & { input: Record<string, unknown> },
  context: Recording,
  deps: Pick<DoorDeps, 'call' | 'onCall' | 'toolTimeoutMs' | 'resultMaxChars'>,
): Promise<ToolOutcome> {
  const { input, ...fields } = call;
  context.emit({ event: 'tool_call', ...fields, input });
  const startedAt = new Date();
  const started = performance.now();
  const outcome = await deps.call(call.server, call.tool, input, {
    signal: context.signal,
    timeoutMs: deps.toolTimeoutMs,
    callId: call.call_id,
    agent: context.agent,
    span: context.span,
  });
  const durationMs = performance.now() - started;
  deps.onCall({
    run_id: context.runId,
    server: call.server,
    tool: call.tool,
    agent: context.agent,
    outcome: wasCancelled(context.signal) ? 'cancelled' : outcome.kind,
    seconds: durationMs / 1000,
  });
  const isError = outcome.kind !== 'ok';
  const result = context.trace.cut(outcome.text);
  context.trace.add({
    type: 'tool_call',
    started_at: startedAt.toISOString(),
    duration_ms: durationMs,
    call_id: call.call_id,
    server: call.server,
    tool: call.tool,
    input,
    result,
    is_error: isError,
  });
  context.signal.throwIfAborted();
  context.emit({ event: 'tool_result', ...fields, is_error: isError, result, duration_ms: durationMs });
  return { ...outcome, text: cutText(outcome.text, deps.resultMaxChars) };
}

function deny(fields: CallFields, reason: string, context: DoorContext, deps: DoorDeps): ToolAnswer {
  recordDenial(fields, reason, context, deps);
  return { text: `this call is not allowed: ${reason}`, isError: true };
}

export function recordDenial(
  fields: CallFields,
  reason: string,
  context: Recording,
  deps: Pick<DoorDeps, 'onCall'>,
): void {
  const { call_id, server, tool } = fields;
  const { runId: run_id, agent } = context;
  // A model can invent names, and each would become a series.
  if (server !== NO_SERVER) deps.onCall({ run_id, server, tool, agent, outcome: 'denied', seconds: 0 });
  context.emit({ event: 'tool_denied', ...fields, reason });
  context.trace.add({
    type: 'tool_denied',
    started_at: new Date().toISOString(),
    duration_ms: 0,
    call_id,
    server,
    tool,
    reason,
  });
}

/** Null when the call was approved, else why not. */
export const refusalOf = ({ approved, comment }: ToolApprovalResult): string | null =>
  approved ? null : (comment ?? 'the approver rejected it');

/** Asks people about a call, and records that. */
export async function askHuman(
  request: ApprovalRequest,
  context: Recording,
  deps: Pick<DoorDeps, 'requestApproval'>,
): Promise<ToolApprovalResult> {
  const { input: _, reason: __, ...fields } = request;
  context.emit({ event: 'approval_requested', ...fields });
  const started = performance.now();
  const startedAt = new Date().toISOString();
  const decision = await deps.requestApproval(request, context.signal);
  context.emit({
    event: 'approval_decided',
    ...fields,
    approved: decision.approved,
    decided_by: decision.decided_by ?? null,
  });
  context.trace.add({
    type: 'approval',
    started_at: startedAt,
    duration_ms: performance.now() - started,
    call_id: request.call_id,
    server: request.server,
    tool: request.tool,
    is_error: !decision.approved,
    reason: decision.comment ?? null,
  });
  return decision;
}

export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars)}\n[cut: ${text.length - maxChars} more characters]`;
}
