import { z } from 'zod';
import type { ModelPrompt, ModelTool } from '../models/model.ts';
import { MAX_NAME_CHARS } from '../tools/tool.ts';

/** What a runner says to a model: the parts that its loop writes and no others, so no files and nothing that a provider executes. */
const providerOptions = z.record(z.string(), z.record(z.string(), z.unknown())).optional();
const Text = z.object({ type: z.literal('text'), text: z.string(), providerOptions });
const Reasoning = Text.extend({ type: z.literal('reasoning') });
const named = { toolCallId: z.string(), toolName: z.string() };
const ToolCall = z.object({ type: z.literal('tool-call'), ...named, input: z.unknown(), providerOptions });
const Output = z.object({ type: z.enum(['text', 'error-text']), value: z.string() });
const ToolResult = z.object({ type: z.literal('tool-result'), ...named, output: Output });
const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.array(Text) }),
  z.object({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [Text, Reasoning, ToolCall])),
    providerOptions,
  }),
  z.object({ role: z.literal('tool'), content: z.array(ToolResult) }),
]);
const Tool = z.object({
  type: z.literal('function'),
  name: z.string().max(MAX_NAME_CHARS),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});

export const SaidToModel = z.object({
  prompt: z.array(Message).transform((messages) => messages as ModelPrompt),
  tools: z.array(Tool).transform((tools) => tools as ModelTool[]),
});
