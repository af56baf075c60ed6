import type { ModelCall } from '../models/model.ts';
import type { AgentRecord } from '../agents/agent-record.ts';
import type { AnswerContract } from './answer-contract.ts';

/** A turn of a run, as its agent and its caller have it. */
export function modelCallOf(
  { agent, contract }: { agent: AgentRecord; contract: AnswerContract | null },
  said: Pick<ModelCall, 'prompt' | 'tools'>,
): ModelCall {
  const { config } = agent;
  return {
    ...said,
    maxOutputTokens: config.max_tokens,
    temperature: config.temperature,
    thinking: config.thinking_level === 'off' ? 'none' : config.thinking_level,
    answerSchema: contract?.schema ?? null,
  };
}
