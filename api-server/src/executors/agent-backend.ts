import {
  AgentRunResult,
  AgentRunSpent,
  AgentsList,
  type AgentSummary,
  cutShort,
  ServerInfo,
  startOf,
  ToolApprovalParams,
  type Usage,
} from '@signalbox/crds';
import { stopReason } from '../runs/state/stopped.ts';
import {
  failure,
  type AgentBackend,
  type AgentCall,
  type AgentFailure,
  type AgentReply,
  type AgentSpent,
  type Failure,
} from '../runs/state/executor.ts';
import type { z } from 'zod';
import type { CallResult, RpcClient } from './rpc-client.ts';
import { boundedEvents } from './agent-events.ts';
import { boundedModels } from './bounded-models.ts';
import { whileFull } from './while-full.ts';

/** Tool results in the kept trace are cut to this many characters. */
const TRACE_RESULT_CHARS = 4_000;

/** Asks agents over `/rpc`: the gateway, and any backend that speaks the same protocol. */
export function agentBackend(name: 'gateway' | 'external', rpc: RpcClient): AgentBackend {
  const bounded = boundedModels();
  return {
    name,
    run: async (call) => {
      const events = boundedEvents(call.onEvent);
      const approve = boundedApprovals(call);
      const ask = () =>
        rpc.call({
          method: 'agent.run',
          params: runParams(call),
          signal: call.signal,
          repeatable: true,
          eventKey: call.idempotencyKey,
          onEvent: events.onEvent,
          onRequest: (method, params) => (method === 'tool.request_approval' ? approve(params) : null),
          // The process that continues the run asks for the same key, and would get what a cancellation left.
          outlives: () => stopReason(call.signal)?.why === 'shutdown',
          cancel: { method: 'agent.cancel', params: { idempotency_key: call.idempotencyKey } },
        });
      const onFull = (message: string) => call.onEvent('backend_full', { message });
      const answer = await whileFull(ask, { signal: call.signal, onFull }).finally(events.end);
      const spentOf: SpentOf = (said) => toSpent(said, (named) => bounded(call.agent, named));
      return answer.ok ? toReply(name, answer.result, spentOf) : toFailure(answer, spentOf);
    },
    list: async (signal) => {
      const answer = await rpc.call({ method: 'agents.list', params: {}, signal, repeatable: true });
      if (!answer.ok) return answer;
      const parsed = AgentsList.safeParse(answer.result);
      if (!parsed.success) return malformed(name, 'agents.list', parsed.error);
      return { ok: true, agents: parsed.data.agents.map(listed) };
    },
    approvals: async (signal) => {
      const answer = await rpc.call({ method: 'server.info', params: {}, signal, repeatable: true });
      const info = ServerInfo.safeParse(answer.ok ? answer.result : null);
      return info.data?.approvals ?? null;
    },
    close: () => rpc.close(),
  };
}

const listed = ({ name, model, version, warnings = [] }: AgentSummary) => ({
  name,
  model,
  ...(version ? { version } : {}),
  ...(warnings.length > 0 ? { warnings } : {}),
});

/** Questions of one call that wait for people at the same time. */
export const MAX_QUESTIONS = 64;
/** Runs of the backend that ask for one call: each closes what those before it asked, which make room for as many. */
export const MAX_ASKERS = 32;
/** Characters of the names in a question, which are in the log of its run and in its messages: at least what the gateway allows. */
const MOST_CHARS = { run_id: 300, call_id: 300, agent: 300, server: 64, tool: 256 } as const;

const denied = (comment: string) => Promise.resolve({ approved: false, comment });

/** As `approve`; a backend that asks without end gets no more questions stored, sent and shown. */
function boundedApprovals(call: AgentCall): (params: unknown) => Promise<unknown> | null {
  const { onApproval } = call;
  const askers = new Set<string>();
  let open = 0;
  return (params) => {
    if (!onApproval || !isAbout(call, params)) return null;
    if (open >= MAX_QUESTIONS) return denied(`${MAX_QUESTIONS} questions of this call wait for people already`);
    const { data: asked } = ToolApprovalParams.safeParse(params);
    if (!asked) return null;
    const long = NAMES.find((name) => asked[name].length > MOST_CHARS[name]);
    if (long) return denied(`the ${long} of the question is longer than ${MOST_CHARS[long]} characters`);
    if (!askers.has(asked.run_id) && askers.size >= MAX_ASKERS)
      return denied(`${MAX_ASKERS} runs have asked for this call already`);
    askers.add(asked.run_id);
    open += 1;
    return approve(onApproval, asked).finally(() => void (open -= 1));
  };
}

const NAMES = Object.keys(MOST_CHARS) as (keyof typeof MOST_CHARS)[];

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

/** By hand: every open call is asked about every question. */
const isAbout = ({ runId, stepName }: AgentCall, params: unknown): boolean => {
  const { run_id: run, step_name: step } = fieldsOf(fieldsOf(params)['metadata']);
  return run === runId && step === stepName;
};

/** Asks people on behalf of a call. */
async function approve(onApproval: NonNullable<AgentCall['onApproval']>, asked: ToolApprovalParams): Promise<unknown> {
  const { run_id: backendRunId, call_id: callId, agent, server, tool, input, reason } = asked;
  const decision = await onApproval({ backendRunId, callId, agent, server, tool, input, reason: reason ?? null });
  const { approved, inputSha256, decidedBy, comment } = decision;
  return { approved, input_sha256: inputSha256, decided_by: decidedBy, comment };
}

const runParams = (call: AgentCall): Record<string, unknown> => ({
  agent: call.agent,
  ...(call.model === undefined ? {} : { model: call.model }),
  input: call.input,
  output_schema: call.outputSchema,
  timeout_ms: call.timeoutMs,
  idempotency_key: call.idempotencyKey,
  metadata: {
    run_id: call.runId,
    pipeline: call.pipeline,
    step_name: call.stepName,
    team: call.team,
    ...(call.namespace !== null && { namespace: call.namespace }),
  },
  trace: { stream: true, tool_result_max_chars: TRACE_RESULT_CHARS },
  ...(call.trace && { _meta: call.trace }),
});

/** The place of a mistake has names that the backend chose. */
const MOST_REASON_CHARS = 500;

function malformed(name: string, method: string, { issues }: z.ZodError): Failure {
  const [first] = issues;
  const where = first?.path.join('.') || 'the result';
  const why = cutShort(`${where}: ${first?.message}`, MOST_REASON_CHARS);
  return failure('malformed_answer', `the ${name} backend's answer to ${method} does not fit the protocol: ${why}`);
}

/** Names are columns of an index, whose entries have a largest size. */
const cutName = (name: string | null, most: number): string | null =>
  name !== null && name.length > most ? startOf(name, most) : name;

type SpentOf = (said: AgentRunSpent) => AgentSpent;

function toReply(name: string, result: unknown, spentOf: SpentOf): AgentReply | Failure {
  const parsed = AgentRunResult.safeParse(result);
  if (!parsed.success) return malformed(name, 'agent.run', parsed.error);
  const { data } = parsed;
  return {
    ok: true,
    text: data.text,
    output: data.output,
    stopReason: data.stop_reason,
    ...spentOf(data),
  };
}

function toFailure({ data, ...refused }: Extract<CallResult, { ok: false }>, spentOf: SpentOf): AgentFailure {
  const { data: said } = AgentRunSpent.safeParse(data);
  return said && (said.usage !== null || said.iterations > 0) ? { ...refused, spent: spentOf(said) } : refused;
}

const tokensOf = (usage: Usage) => ({
  inputTokens: usage.input_tokens,
  outputTokens: usage.output_tokens,
  cachedInputTokens: usage.cached_input_tokens,
});

/** Who answered, with names of the sizes that are kept. */
interface Answered {
  provider: string | null;
  model: string | null;
}
const answeredBy = ({ provider, model }: Answered): Answered => ({
  provider: cutName(provider, 100),
  model: cutName(model, 200),
});

const toSpent = (said: AgentRunSpent, bounded: (named: Answered) => Answered): AgentSpent => ({
  ...bounded(answeredBy(said)),
  agentVersion: cutName(said.agent_version, 100),
  usage: said.usage && tokensOf(said.usage),
  ...(said.usage_by_model && {
    usageByModel: said.usage_by_model.map((one) => ({
      ...tokensOf(one),
      ...bounded(answeredBy(one)),
    })),
  }),
  durationMs: said.duration_ms,
  iterations: said.iterations,
  toolCalls: said.tool_calls,
  trace: said.trace,
  ...(said.trace_cut && { traceCut: true }),
  warnings: said.warnings,
});
