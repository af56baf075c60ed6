import type { LanguageModelV4Content, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider';

/** The prompt in the AI SDK's form: plain JSON, so it can also be sent between gateway and runner. */
export type ModelPrompt = LanguageModelV4Prompt;
export type ModelTool = LanguageModelV4FunctionTool;
export type ModelContent = LanguageModelV4Content;

export const THINKING_LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** One request to a model. */
export interface ModelCall {
  prompt: ModelPrompt;
  tools: ModelTool[];
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  thinking?: ThinkingLevel | undefined;
  /** The JSON Schema that the text must meet, null for free text. The prompt contains it too; a provider may use it to switch on a JSON mode. */
  answerSchema: Record<string, unknown> | null;
}

/** Tokens; null where the provider reports none. `input` includes cached tokens. */
export interface ModelUsage {
  input: number | null;
  output: number | null;
  cachedInput: number | null;
}

export interface ModelReply {
  content: ModelContent[];
  finish: string;
  usage: ModelUsage;
  /** The model that answered, as the provider names it. */
  modelId: string;
}

export interface ModelCallOptions {
  signal: AbortSignal;
  /** Headers of the trace that the call is part of. */
  traceContext?: Record<string, string> | undefined;
  /** Given where the caller wants the text streamed. */
  onText?: ((delta: string) => void) | undefined;
}

/** A model of one provider. Rejects on failure; `describeFailure` reads what it rejects with. */
export interface ChatModel {
  generate(call: ModelCall, options: ModelCallOptions): Promise<ModelReply>;
}

/** Models of one configured provider, by the provider's own model id. */
export interface ModelProvider {
  model(id: string): ChatModel;
}
