import { answerSchema, extractJson, parseAnswer, type Validate } from '@signalbox/crds';
import type { Compute } from '@signalbox/crds/process/compute';
import type { AgentBackend, AgentCall, AgentReply } from '../state/executor.ts';
import { withDeadline } from '../state/deadline.ts';
import { cutText } from '../state/field-sizes.ts';
import { stopReason } from '../state/stopped.ts';
import type { SecondOpinion } from '../state/model.ts';
import type { PromptRoom } from '../state/prompt-room.ts';
import { ownerOf } from '../prompt/templates.ts';
import { askAgent, usesOf } from '../agent/model-call.ts';
import type { Span } from '../state/span.ts';
import { type PriceOf, spend } from '../cost/cost.ts';
import type { Begun } from './step-execution.ts';

export type Backends = ReadonlyMap<string, AgentBackend>;

export interface Opinion {
  part: 'verifier' | 'grounding';
  executor: 'gateway' | 'external';
  agent: string;
  model?: string;
  input: string;
  /** Further keys of the answer beyond the contract. */
  schema?: Record<string, unknown>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Reads the score out of the answer. */
  score(answer: { confidence: number; output: Record<string, unknown> }): number | null;
}

type Asked = Opinion & { span: Span };

interface SecondOpinionDeps {
  compute: Pick<Compute, 'validate'>;
  backends: Backends;
  priceOf: PriceOf;
  prompts: PromptRoom;
  now(): number;
}

/**
 * Asks a second agent about a step's answer, in a span of its own. A failure is part of the result, never a failure of the
 * run.
 */
export async function secondOpinion(deps: SecondOpinionDeps, begun: Begun, opinion: Opinion): Promise<SecondOpinion> {
  const { part, executor, agent } = opinion;
  const span = begun.span.child(`${part}: ${agent}`, {
    'service.span.kind': part,
    'service.executor': executor,
    'service.agent': agent,
  });
  const startedAt = deps.now();
  begun.run.journal.add('info', `${part}_asked`, `asks ${agent}`, { step_name: begun.name, agent });
  const said = { ...(await ask(deps, begun, { ...opinion, span })), startedAt, endedAt: deps.now() };
  span.end(
    { 'service.model': said.model, 'service.provider': said.provider, 'service.confidence': said.score },
    said.error === undefined ? null : 'failed',
  );
  return said;
}

async function ask(
  { backends, priceOf, compute, prompts }: SecondOpinionDeps,
  begun: Begun,
  opinion: Asked,
): Promise<SecondOpinion> {
  const nothing = { agent: opinion.agent, model: null, provider: null, score: null, summary: null };
  const backend = backends.get(opinion.executor);
  if (!backend) return { ...nothing, error: `executors.${opinion.executor} is not configured` };
  using held = prompts.hold(begun.run, { raw: null, sends: JSON.stringify(opinion.input).length });
  if (held.refused) return { ...nothing, error: held.refused.message };
  const message = `no answer within ${opinion.timeoutMs / 1000} s`;
  using deadline = withDeadline({ after: opinion.timeoutMs, why: 'call_timeout', message, follows: opinion.signal });
  const { signal } = deadline;
  const reply = await askAgent(backend, opinion.span, callOf(begun, { ...opinion, signal }));
  const used = reply.ok ? reply : reply.spent;
  const { part, executor, agent } = opinion;
  if (used) spend(priceOf, begun, { part, executor, agent }, usesOf(used));
  const asked = { ...nothing, ...(used && { model: used.model, provider: used.provider }) };
  const validate: Validate = (schema, value) => compute.validate(schema, value, ownerOf(begun.run));
  if (reply.ok) return { ...asked, ...(await read(reply, opinion, validate)) };
  return { ...asked, error: stopReason(signal)?.why === 'call_timeout' ? message : reply.message };
}

function callOf({ run, name, iteration, attempt }: Begun, opinion: Asked): AgentCall {
  const { score: _, schema, executor: _executor, span: _span, part, ...call } = opinion;
  return {
    ...call,
    idempotencyKey: `${run.id}/${name}/${iteration}/${attempt}/${part}`,
    outputSchema: answerSchema(schema),
    runId: run.id,
    pipeline: run.pipeline.name,
    stepName: name,
    team: run.team,
    namespace: run.namespace,
    onEvent: () => undefined,
  };
}

/** Of what it says, which is stored with the step: no bound of answers counts it. */
const TEXT_BYTES = 4096;

async function read(
  { output, text }: AgentReply,
  { schema, score }: Opinion,
  validate: Validate,
): Promise<Partial<SecondOpinion>> {
  const parsed = await parseAnswer(output ?? extractJson(text), schema, validate);
  if (parsed.ok) return { score: score(parsed.answer), summary: cutText(parsed.answer.summary, TEXT_BYTES) };
  const why =
    'reason' in parsed ? `cannot be checked: ${parsed.msg}` : `does not fit its schema: ${parsed.errors[0]?.msg ?? ''}`;
  return { error: cutText(`the answer ${why}`, TEXT_BYTES) };
}
