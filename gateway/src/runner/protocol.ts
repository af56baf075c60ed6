import { Agent, ToolApprovalParams, valuesIn } from '@signalbox/crds';
import { z } from 'zod';
import { MAX_REPLY_CHARS } from '../models/bound-reply.ts';
import { MAX_VALUES } from '../models/bound-values.ts';
import { MAX_NAME_CHARS, MAX_TOOLS } from '../tools/tool.ts';
import { SaidToModel } from './said-to-model.ts';

/** The messages between gateway and runner beyond `/rpc`. Both run the same version, so nested types of the gateway's are not checked again. */
export const RUNNER_FRAME = { maxFrameBytes: 8 * 1024 * 1024, maxFrameValues: 200_000, countsNames: true };

/** Gateway to runner, before a run and whenever it changed. */
export const RUNNER_CONFIGURE = 'runner.configure';
const Tool = z.object({
  server: z.string(),
  name: z.string().max(MAX_NAME_CHARS),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z.object({
    title: z.string().optional(),
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  }),
});
const ImageServer = z.object({
  name: z.string(),
  port: z.int().min(1).max(65_535),
  path: z.string().startsWith('/'),
  tools_hash: z.string().optional(),
  timeouts: z.object({ timeoutMs: z.number(), maxTimeoutMs: z.number() }),
});
export const RunnerConfiguration = z.object({
  agent: z.object({ config: Agent, soul: z.string(), version: z.string() }),
  /** The tools of servers in the gateway. */
  tools: z.array(Tool),
  /** Servers in the runner's pod. */
  image_servers: z.array(ImageServer),
  tool_pinning: z.enum(['off', 'warn', 'enforce']),
  limits: z.object({ max_iterations: z.int(), tool_timeout_ms: z.number(), tool_result_max_chars: z.int() }),
});
export type RunnerConfiguration = z.infer<typeof RunnerConfiguration>;

/** Runner to every gateway that configured it, at once and whenever it changed. */
export const RUNNER_STATE = 'runner.state';
export const RunnerState = z.object({
  /** The runner refuses new runs and ends after the present ones. */
  draining: z.boolean(),
  /** The tools of servers in the pod. How many there are is looked at before any of them is. */
  tools: z.array(Tool).max(MAX_TOOLS),
});
export type RunnerState = z.infer<typeof RunnerState>;
/** Is taken also where the tools are not. */
export const RunnerDraining = RunnerState.pick({ draining: true });

/** Runner to gateway. `run` is the idempotency key that the gateway gave; `ask` numbers its requests, so that one repeated on a new connection is executed once. */
const Ask = z.object({ run: z.string(), ask: z.int() });
const named = {
  call_id: z.string().max(10_000),
  server: z.string().max(64),
  tool: z.string().max(MAX_NAME_CHARS),
};
/** The arguments are JSON within a text, whose values are counted before it is parsed: no more than a model may say at once. */
const input = z
  .string()
  .max(MAX_REPLY_CHARS)
  .refine((text) => valuesIn(text) <= MAX_VALUES);
const Call = Ask.extend({ ...named, input });
export const GenerateAsk = Ask.extend({ call: SaidToModel });
export type GenerateAsk = z.infer<typeof GenerateAsk>;
export const AuthorizeAsk = Call;
export type AuthorizeAsk = z.infer<typeof AuthorizeAsk>;
export const ToolCallAsk = Call;
export type ToolCallAsk = z.infer<typeof ToolCallAsk>;

export const ApprovalAsk = ToolApprovalParams.extend(named);

export const ASKS = { generate: 'model.generate', authorize: 'tool.authorize', call: 'tool.call' } as const;
