import { answerSchema, extractJson, parseAnswer } from '@signalbox/crds';
import type { AgentBackend, AgentCall, AgentReply } from './executor.ts';
import type { SecondOpinion } from './model.ts';
import type { Site } from './step-rows.ts';

export type Backends = ReadonlyMap<string, AgentBackend>;

export interface Opinion {
  executor: 'gateway' | 'external';
  agent: string;
  model?: string;
  input: string;
  /** Further keys of the answer beyond the contract. */
  schema?: Record<string, unknown>;
  idempotencyKey: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** Reads the score out of the answer. */
  score(answer: { confidence: number; output: Record<string, unknown> }): number | null;
}

const NOTHING = { model: null, provider: null, score: null, summary: null, inputTokens: null, outputTokens: null };

/** Asks a second agent about a step's answer. A failure is part of the result, never a failure of the run (Design 3). */
export async function secondOpinion(backends: Backends, site: Site, opinion: Opinion): Promise<SecondOpinion> {
  const nothing = { agent: opinion.agent, ...NOTHING };
  const backend = backends.get(opinion.executor);
  if (!backend) return { ...nothing, error: `executors.${opinion.executor} is not configured` };
  const timeout = AbortSignal.timeout(opinion.timeoutMs);
  const signal = AbortSignal.any([opinion.signal, timeout]);
  const reply = await backend.run(callOf(site, { ...opinion, signal }));
  if (!reply.ok) return { ...nothing, error: timeout.aborted ? 'no answer in time' : reply.message };
  return { ...nothing, ...read(reply, opinion), ...usageOf(site, reply) };
}

function callOf({ run, name }: Site, opinion: Opinion): AgentCall {
  const { score: _, schema, executor: _executor, ...call } = opinion;
  return {
    ...call,
    outputSchema: answerSchema(schema),
    runId: run.id,
    pipeline: run.pipeline.name,
    stepName: name,
    team: run.team,
    onEvent: () => undefined,
  };
}

/** The tokens of a second opinion are the run's. */
function usageOf({ run }: Site, { usage }: AgentReply): Partial<SecondOpinion> {
  if (!usage) return {};
  run.totals.inputTokens += usage.inputTokens;
  run.totals.outputTokens += usage.outputTokens;
  return usage;
}

function read({ model, provider, output, text }: AgentReply, { schema, score }: Opinion): Partial<SecondOpinion> {
  const parsed = parseAnswer(output ?? extractJson(text), schema);
  if (parsed.ok) return { model, provider, score: score(parsed.answer), summary: parsed.answer.summary };
  return { model, provider, error: `the answer does not fit its schema: ${parsed.errors[0]?.msg ?? ''}` };
}
