import { answerSchema, extractJson, parseAnswer } from '@signalbox/crds';
import type { AgentBackend } from './executor.ts';
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

/** Asks a second agent about a step's answer. A failure is part of the result, never a failure of the run (Design 3). */
export async function secondOpinion(backends: Backends, { run, name }: Site, opinion: Opinion): Promise<SecondOpinion> {
  const nothing = { agent: opinion.agent, model: null, provider: null, score: null, summary: null, inputTokens: null, outputTokens: null };
  const backend = backends.get(opinion.executor);
  if (!backend) return { ...nothing, error: `executors.${opinion.executor} is not configured` };
  const timeout = AbortSignal.timeout(opinion.timeoutMs);
  const reply = await backend.run({
    agent: opinion.agent,
    model: opinion.model,
    input: opinion.input,
    outputSchema: answerSchema(opinion.schema),
    idempotencyKey: opinion.idempotencyKey,
    timeoutMs: opinion.timeoutMs,
    runId: run.id,
    pipeline: run.pipeline.name,
    stepName: name,
    team: run.team,
    signal: AbortSignal.any([opinion.signal, timeout]),
    onEvent: () => undefined,
  });
  if (!reply.ok) return { ...nothing, error: timeout.aborted ? 'no answer in time' : reply.message };
  run.totals.inputTokens += reply.usage?.inputTokens ?? 0;
  run.totals.outputTokens += reply.usage?.outputTokens ?? 0;
  const known = {
    ...nothing,
    model: reply.model,
    provider: reply.provider,
    inputTokens: reply.usage?.inputTokens ?? null,
    outputTokens: reply.usage?.outputTokens ?? null,
  };
  const parsed = parseAnswer(reply.output ?? extractJson(reply.text), opinion.schema);
  if (!parsed.ok) return { ...known, error: `the answer does not fit its schema: ${parsed.errors[0]?.msg ?? ''}` };
  return { ...known, score: opinion.score(parsed.answer), summary: parsed.answer.summary };
}
