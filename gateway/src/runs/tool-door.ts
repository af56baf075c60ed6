import type { ToolApprovalResult } from '@signalbox/crds';
import type { PolicyCall, PolicyDecision } from '../policy/policy.ts';
import type { ToolCallOptions, ToolOutcome } from '../tools/tool.ts';
import type { EmitRunEvent } from './run-event.ts';
import { wasCancelled } from './run-outcome.ts';
import type { RunSpan } from '../observability/span.ts';
import { parseToolInput } from './tool-input.ts';
import type { OfferedTool, ToolOffer } from './tool-offer.ts';
import type { Trace } from './trace.ts';

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
  onCall: (call: {
    server: string;
    tool: string;
    agent: string;
    outcome: ToolOutcome['kind'] | 'denied' | 'cancelled';
    seconds: number;
  }) => void;
  toolTimeoutMs: number;
  resultMaxChars: number;
}

export interface DoorContext {
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
  if (!offered) return { text: `there is no tool "${requested.name.slice(0, 100)}"`, isError: true };
  const input = parseToolInput(requested.input);
  if (!input) return { text: 'the arguments must be a JSON object', isError: true };
  const { server, tool } = offered;
  const fields = { call_id: requested.id, server, tool };
  const asked = { server, tool, agent: context.agent, input: JSON.stringify(input) };
  const decision = await deps.decide({ ...asked, callId: requested.id });
  if (decision.action === 'deny') return deny(fields, decision.reason ?? 'denied by the tool policy', context, deps);
  if (decision.action === 'require_approval' || offered.needsApproval) {
    const refused = await askHuman({ ...fields, input, reason: decision.reason }, context, deps);
    if (refused !== null) return deny(fields, refused, context, deps);
  }
  return dispatch({ ...fields, input }, context, deps);
}

type CallFields = { call_id: string } & Pick<OfferedTool, 'server' | 'tool'>;

async function dispatch(
  call: CallFields & { input: Record<string, unknown> },
  context: DoorContext,
  deps: DoorDeps,
): Promise<ToolAnswer> {
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
    server: call.server,
    tool: call.tool,
    agent: context.agent,
    outcome: wasCancelled(context.signal) ? 'cancelled' : outcome.kind,
    seconds: durationMs / 1000,
  });
  context.signal.throwIfAborted();
  const isError = outcome.kind !== 'ok';
  const result = context.trace.cut(outcome.text);
  context.emit({ event: 'tool_result', ...fields, is_error: isError, result, duration_ms: durationMs });
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
  return { text: cutText(outcome.text, deps.resultMaxChars), isError };
}

function deny(fields: CallFields, reason: string, context: DoorContext, deps: DoorDeps): ToolAnswer {
  const { call_id, server, tool } = fields;
  deps.onCall({ server, tool, agent: context.agent, outcome: 'denied', seconds: 0 });
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
  return { text: `this call is not allowed: ${reason}`, isError: true };
}

/** Null when the call was approved, else why not. */
async function askHuman(request: ApprovalRequest, context: DoorContext, deps: DoorDeps): Promise<string | null> {
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
  return decision.approved ? null : (decision.comment ?? 'the approver rejected it');
}

export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars)}\n[cut: ${text.length - maxChars} more characters]`;
}
