import type { AgentRunParams, RpcError, RpcResponse } from '@signalbox/crds';
import type { Run } from '../runs/run.ts';
import type { RunJob } from '../runs/run-agent.ts';
import { RunAborted, type RunFailure, type RunFailureType, type RunOutcome } from '../runs/run-outcome.ts';
import type { AgentPods } from './agent-pods.ts';
import type { Configured } from './configuring.ts';
import type { PodLink } from './pod-link.ts';
import { fitsNoFrame, PodResult, podSaid, PodSpent } from './pod-said.ts';

export interface PodRunDeps {
  pods: AgentPods;
  /** Asks a pod when it has the configuration of the run's agent. */
  configured: (
    link: PodLink,
    job: RunJob,
    asking: Pick<Configured<RpcResponse>, 'ask' | 'signal'>,
  ) => Promise<RpcResponse>;
  /** Whether any pod did something for a run yet. */
  hasBegun: (runId: string) => boolean;
  reconnectMs: number;
}

const CANCEL_PATIENCE_MS = 1000;
const MAX_TRIES = 5;
/** Errors of a pod that refused the run, or restarted and does not know it. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['at_capacity', 'not_found']);
const FAILURES: ReadonlySet<string> = new Set<RunFailureType>([
  'timeout',
  'cancelled',
  'provider_error',
  'max_iterations',
  'output_invalid',
  'tool_unavailable',
  'invalid_params',
  'internal',
]);

/**
 * One run in a pod. A pod that refuses the run, or is lost before its first request, had no effect: the run goes to the next pod.
 */
export async function runInPod(job: RunJob, run: Run, deps: PodRunDeps): Promise<RunOutcome> {
  let outcome: RunOutcome = failed('tool_unavailable', 'the agent has no pod that answers', true);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isReady = await (deps.pods.whenReady(job.agent, job.signal)?.() ?? true);
    const link = isReady ? deps.pods.pick(job.agent) : null;
    if (!link) return outcome;
    const next = await runOn(link, { job, run }, deps);
    if (!next.elsewhere || job.signal.aborted) return next.outcome;
    outcome = next.outcome;
  }
  return outcome;
}

/** The result of one attempt; `elsewhere`: another pod may start the run. */
interface Tried {
  outcome: RunOutcome;
  elsewhere: boolean;
}

/** Starts the run in the pod, follows it over reconnects, cancels it there, and maps its answer. */
async function runOn(link: PodLink, { job, run }: { job: RunJob; run: Run }, deps: PodRunDeps): Promise<Tried> {
  link.load += 1;
  const patience = new AbortController();
  const cancel = () => {
    link.request('agent.cancel', { run_id: job.runId }, patience.signal).catch(() => undefined);
    setTimeout(() => patience.abort(job.signal.reason), CANCEL_PATIENCE_MS);
  };
  job.signal.addEventListener('abort', cancel, { once: true });
  try {
    const response = await follow({ job, run, link, signal: patience.signal }, deps);
    const refusal = response.error?.data?.type;
    if (refusal === 'at_capacity') link.spare();
    const notTaken = refusal !== undefined && NOT_TAKEN.has(refusal);
    return { outcome: outcomeOf(response, job), elsewhere: notTaken && !deps.hasBegun(job.runId) };
  } catch (error) {
    if (job.signal.aborted) return { outcome: aborted(job, null), elsewhere: false };
    return { outcome: lost(error), elsewhere: !deps.hasBegun(job.runId) };
  } finally {
    job.signal.removeEventListener('abort', cancel);
    link.load -= 1;
  }
}

interface Following {
  job: RunJob;
  run: Run;
  link: PodLink;
  signal: AbortSignal;
}

/** Starts the run, and attaches to it again whenever the connection broke. Rejects when the pod does not come back. */
async function follow({ job, run, link, signal }: Following, deps: PodRunDeps): Promise<RpcResponse> {
  const begin = async () => {
    // It is cancelled already where it waited for a configuration.
    job.signal.throwIfAborted();
    return link.request('agent.run', paramsOf(job, run.params), signal);
  };
  const attach = () => link.request('agent.attach', { run_id: job.runId }, signal);
  let asking = deps.configured(link, job, { ask: begin, signal });
  for (;;) {
    try {
      return await asking;
    } catch (error) {
      // A run that has not started need not wait for this pod.
      if (signal.aborted || !deps.hasBegun(job.runId)) throw error;
      const back = await deps.pods.whenBack(job.agent, link, { signal, withinMs: deps.reconnectMs });
      if (!back) throw new Error('the connection to the pod was lost', { cause: error });
      asking = deps.configured(link, job, { ask: attach, signal });
    }
  }
}

/** The pod uses the gateway's run id, so both log the same one. */
function paramsOf(job: RunJob, params: AgentRunParams): AgentRunParams {
  return {
    agent: job.agent.name,
    input: job.input,
    idempotency_key: job.runId,
    trace: { stream: job.streamText, tool_result_max_chars: job.traceResultMaxChars },
    ...(job.contract ? { output_schema: job.contract.schema } : {}),
    ...(params.metadata ? { metadata: params.metadata } : {}),
    ...(job.span.context ? { _meta: job.span.context } : {}),
  };
}

function outcomeOf(response: RpcResponse, job: RunJob): RunOutcome {
  const { error } = response;
  if (job.signal.aborted) return aborted(job, error?.data);
  if (error) return refused(error);
  const said = podSaid(response.result);
  if (fitsNoFrame(said)) return failed('output_invalid', 'the answer does not fit a message', false, said);
  const parsed = PodResult.safeParse(said);
  if (!parsed.success) return failed('internal', 'the pod answered with something else than a result', true);
  return { ok: true, result: { ...parsed.data, run_id: job.runId, agent_version: job.agent.version } };
}

function refused({ message, data }: RpcError): RunFailure {
  const type = data?.type ?? 'internal';
  if (type === 'at_capacity') return failed('tool_unavailable', message, true);
  if (type === 'not_found') return failed('tool_unavailable', 'the pod does not know the run any more', true);
  const known = FAILURES.has(type) ? (type as RunFailureType) : 'internal';
  return failed(known, message, data?.retryable ?? false, data);
}

function aborted(job: RunJob, used: unknown): RunFailure {
  const { reason } = job.signal;
  if (!(reason instanceof RunAborted)) throw reason;
  return failed(reason.type, reason.message, reason.retryable, used);
}

function lost(error: unknown): RunFailure {
  return failed('tool_unavailable', error instanceof Error ? error.message : 'the pod was lost', true);
}

function failed(type: RunFailureType, message: string, retryable: boolean, used?: unknown): RunFailure {
  const partial = PodSpent.parse(podSaid(used));
  return { ok: false, type, message, retryable, partial };
}
