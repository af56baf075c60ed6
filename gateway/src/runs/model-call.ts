import type { ModelCall } from '../models/model.ts';
import type { RunJob } from './run-agent.ts';

/** A turn of a run, as its agent and its caller have it. */
export function modelCallOf({ agent, contract }: RunJob, said: Pick<ModelCall, 'prompt' | 'tools'>): ModelCall {
  const { config } = agent;
  return {
    ...said,
    maxOutputTokens: config.max_tokens,
    temperature: config.temperature,
    thinking: config.thinking_level === 'off' ? 'none' : config.thinking_level,
    answerSchema: contract?.schema ?? null,
  };
}
