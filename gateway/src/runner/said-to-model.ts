import { z } from 'zod';
import type { ModelPrompt, ModelTool } from '../models/model.ts';
import { MAX_NAME_CHARS } from '../tools/tool.ts';

/** Of a prompt, and of the tools in it; a run has a thousand turns at most. */
const MOST = 10_000;
/** Of one message; no model says as much. */
const MOST_PARTS = 50_000;

/** A list that is read up to the first entry that does not fit: else each problem of all of them is described. */
function listOf<Entry>(entry: z.ZodType<Entry>, most: number) {
  return z
    .array(z.unknown())
    .max(most)
    .transform((values, context) => {
      const entries: Entry[] = [];
      for (const value of values) {
        const parsed = entry.safeParse(value);
        if (!parsed.success) {
          context.addIssue({ code: 'custom', message: 'has an entry that does not fit' });
          return z.NEVER;
        }
        entries.push(parsed.data);
      }
      return entries;
    });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** One problem, however many of its values are no objects. */
const Options = z.custom<Record<string, Record<string, unknown>>>(
  (value) => isObject(value) && Object.values(value).every(isObject),
);

/** What a runner says to a model: the parts that its loop writes and no others, so no files and nothing that a provider executes. */
const providerOptions = Options.optional();
const Text = z.object({ type: z.literal('text'), text: z.string(), providerOptions });
const Reasoning = Text.extend({ type: z.literal('reasoning') });
const named = { toolCallId: z.string(), toolName: z.string() };
const ToolCall = z.object({ type: z.literal('tool-call'), ...named, input: z.unknown(), providerOptions });
const Output = z.object({ type: z.enum(['text', 'error-text']), value: z.string() });
const ToolResult = z.object({ type: z.literal('tool-result'), ...named, output: Output });
const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: listOf(Text, MOST_PARTS) }),
  z.object({
    role: z.literal('assistant'),
    content: listOf(z.discriminatedUnion('type', [Text, Reasoning, ToolCall]), MOST_PARTS),
    providerOptions,
  }),
  z.object({ role: z.literal('tool'), content: listOf(ToolResult, MOST_PARTS) }),
]);
const Tool = z.object({
  type: z.literal('function'),
  name: z.string().max(MAX_NAME_CHARS),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});

export const SaidToModel = z.object({
  prompt: listOf(Message, MOST).transform((messages) => messages as ModelPrompt),
  tools: listOf(Tool, MOST).transform((tools) => tools as ModelTool[]),
});
