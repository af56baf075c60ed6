import {
  answerSchema,
  extractJson,
  parseAnswer,
  promptHash,
  type AgentAnswer,
  type ComputeLimit,
} from '@signalbox/crds';
import type { Compute } from '@signalbox/crds/process/compute';
import {
  failure,
  type AgentBackend,
  type AgentCall,
  type AgentFailure,
  type AgentReply,
  type AgentSpent,
} from '../state/executor.ts';
import type { RawResponse } from '../state/model.ts';
import { backendQueue } from './backend-queue.ts';
import { askAgent, usesOf } from './model-call.ts';
import { noteBlank, refuseBlanks } from '../prompt/blanks.ts';
import { renderPrompt, shownInPrompt, THE_PROMPT } from '../prompt/prompt.ts';
import { askForTool } from './tool-approval.ts';
import { cutText } from '../state/field-sizes.ts';
import type { ApprovalsOfRun } from '../human/approval.ts';
import type { Answer, Attempt, CallFacts, Performed, Prepared, StepKind } from '../state/step-kind.ts';
import type { AnyStep, StepContext } from '../state/step-context.ts';
import { ownerOf, type Templates } from '../prompt/templates.ts';

type AnyAgentStep = Extract<AnyStep, { executor: 'gateway' | 'external' }>;

export interface AgentStepDeps {
  backend: AgentBackend;
  /** Null where approvals of tool calls are not possible. */
  approvals: ApprovalsOfRun | null;
  templates: Templates;
  compute: Pick<Compute, 'validate'>;
  now(): number;
}

/** A step that asks an agent of a backend. */
export function agentStep(deps: AgentStepDeps): StepKind {
  return {
    prepare: async (ctx, earlier) => {
      const step = ctx.step as AnyAgentStep;
      const prompt =
        earlier?.prompt === undefined ? await renderPrompt(deps, ctx, step) : { ok: true as const, raw: earlier };
      for (const value of earlier?.missing ?? []) noteBlank(ctx.run, { name: ctx.name, what: THE_PROMPT, value });
      if (!prompt.ok) return prompt;
      const refused = refuseBlanks(ctx);
      if (refused) return refused;
      const prepared: Prepared = {
        ok: true,
        agent: step.agent,
        model: step.model ?? null,
        promptHash: hashOf(step),
        raw: prompt.raw,
        perform: (attempt) => ask(deps, { ctx, step, raw: prompt.raw }, attempt),
      };
      return prepared;
    },
  };
}

const hashes = new WeakMap<AnyAgentStep, string>();

/** A memo and nothing else: a definition does not change. */
function hashOf(step: AnyAgentStep): string {
  const known = hashes.get(step) ?? promptHash(step.prompt_template);
  hashes.set(step, known);
  return known;
}

interface Question {
  ctx: StepContext;
  step: AnyAgentStep;
  raw: RawResponse;
}

/** From the second iteration of `loop_until` on, the agent sees what it said before. */
function inputOf({ prompt = '' }: RawResponse, { iteration, previous }: Attempt): string {
  if (iteration === 1 || previous === null) return prompt;
  const before = JSON.stringify({ confidence: previous.confidence, summary: previous.summary, ...previous.output });
  return `${prompt}\n\nYour answer so far was:\n${shownInPrompt(before)}\n\nLook again: check what you were unsure of, then answer again.`;
}

async function ask(deps: AgentStepDeps, question: Question, attempt: Attempt): Promise<Performed> {
  const reply = await call(deps, question, { ...attempt, input: inputOf(question.raw, attempt) });
  if (!reply.ok) return withSpent(question.raw, [], reply);
  const parsed = await read(deps, question, reply);
  if (parsed.ok) return { ok: true, answer: toAnswer(parsed.answer), facts: toFacts(question.raw, [reply]) };
  if ('reason' in parsed) return uncheckable(parsed, toFacts(question.raw, [reply]));
  if (deps.backend.name === 'external') {
    const input = repairInput(question, { attempt, reply, errors: parsed.errors });
    // Of the answer only what the step keeps of it.
    return repair(deps, question, { attempt, reply: { ...reply, output: null }, input });
  }
  return invalid(parsed.errors, toFacts(question.raw, [reply]));
}

const read = ({ compute }: AgentStepDeps, { step, ctx }: Question, reply: AgentReply) =>
  parseAnswer(reply.output ?? extractJson(reply.text), step.output_schema, (schema, value) =>
    compute.validate(schema, value, ownerOf(ctx.run)),
  );

const uncheckable = ({ reason, msg }: ComputeLimit, facts: CallFacts): Performed => ({
  ...failure(reason, `the answer could not be checked against its schema: ${msg}`),
  facts,
});

type SchemaErrors = { loc: (string | number)[]; msg: string }[];

/** Apart from `repair`, which would keep the errors while the agent is asked. */
function repairInput(
  { ctx, raw }: Question,
  { attempt, reply, errors }: { attempt: Attempt; reply: AgentReply; errors: SchemaErrors },
): string {
  const message = 'the answer did not fit its schema; the agent is asked to repair it';
  ctx.run.journal.add('warn', 'output_repair', message, { step_name: ctx.name, errors: errors.slice(0, 5) });
  return `${inputOf(raw, attempt)}\n\nYour answer was:\n${shownInPrompt(reply.text)}\n\nIt does not fit the schema:\n${shownInPrompt(describe(errors))}\n\nAnswer again with one JSON object that does.`;
}

/** The one repair turn, for backends that do none of their own. */
async function repair(
  deps: AgentStepDeps,
  question: Question,
  failed: { attempt: Attempt; reply: AgentReply; input: string },
): Promise<Performed> {
  const { attempt, reply, input } = failed;
  const again = await call(deps, question, { ...attempt, idempotencyKey: `${attempt.idempotencyKey}/repair`, input });
  if (!again.ok) return withSpent(question.raw, [reply], again);
  const facts = toFacts(question.raw, [reply, again]);
  const parsed = await read(deps, question, again);
  if (parsed.ok) return { ok: true, answer: toAnswer(parsed.answer), facts };
  return 'reason' in parsed ? uncheckable(parsed, facts) : invalid(parsed.errors, facts);
}

const describe = (errors: SchemaErrors): string =>
  errors
    .slice(0, 10)
    .map(({ loc, msg }) => `- ${loc.join('.') || 'answer'}: ${msg}`)
    .join('\n');

const invalid = (errors: SchemaErrors, facts: CallFacts): Performed => {
  const first = errors[0];
  const message = `the answer does not fit its schema: ${first?.loc.join('.') || 'answer'} ${first?.msg}`;
  return { ...failure('output_invalid', message), facts };
};

async function call(
  deps: AgentStepDeps,
  { ctx, step }: Question,
  attempt: Attempt & { input: string },
): Promise<AgentReply | AgentFailure> {
  const { run, name } = ctx;
  const queue = backendQueue(deps.now, attempt.waited);
  const questions = approvalsOf(deps, { ctx, attempt });
  const asked: Omit<AgentCall, 'trace'> = {
    agent: step.agent,
    model: step.model,
    input: attempt.input,
    outputSchema: answerSchemaOf(step),
    idempotencyKey: attempt.idempotencyKey,
    timeoutMs: attempt.timeoutMs,
    runId: run.id,
    pipeline: run.pipeline.name,
    stepName: name,
    team: run.team,
    namespace: run.namespace,
    signal: attempt.signal,
    onEvent: (event, fields) => {
      const leftQueue = queue.hear(event);
      // The start of a call is a line of the log only where the call had to wait for it.
      if (event === 'started' && !leftQueue) return;
      run.journal.add(levelOf(event), event, messageOf(event, fields), { ...fields, step_name: name });
    },
    ...(questions ? { onApproval: questions.ask } : {}),
  };
  const iteration = step.loop_until === undefined ? undefined : attempt.iteration;
  const reply = await askAgent(deps.backend, attempt.span, asked, iteration);
  queue.leave();
  await questions?.close();
  return reply;
}

interface ToolCalls {
  ctx: StepContext;
  attempt: Attempt;
}

interface Questions {
  ask: NonNullable<AgentCall['onApproval']>;
  /** Cancels approvals that are still open. */
  close(): Promise<void>;
}

/** Most calls need no approval, so the signal that ends approvals is made with the first one. */
function approvalsOf(
  { approvals, templates: { turn }, now }: AgentStepDeps,
  { ctx, attempt }: ToolCalls,
): Questions | undefined {
  if (!approvals) return undefined;
  const deadline = now() + attempt.timeoutMs;
  const asked: Promise<unknown>[] = [];
  let over: AbortController | null = null;
  return {
    ask: (request) => {
      over ??= new AbortController();
      const signal = AbortSignal.any([attempt.signal, over.signal]);
      const asking = { ctx, signal, attempt, turn, deadline, now: now() };
      const decision = askForTool(approvals, asking, request);
      asked.push(decision);
      return decision;
    },
    close: async () => {
      if (over === null) return;
      over.abort();
      await Promise.allSettled(asked);
    },
  };
}

const schemas = new WeakMap<AnyAgentStep, Record<string, unknown>>();

function answerSchemaOf(step: AnyAgentStep): Record<string, unknown> {
  const known = schemas.get(step);
  if (known) return known;
  const schema = answerSchema(step.output_schema);
  schemas.set(step, schema);
  return schema;
}

/** It is stored as the error of its step and of its run, and no bound of answers counts it. */
const REASON_BYTES = 4096;

const toAnswer = (answer: AgentAnswer): Answer => ({
  confidence: answer.confidence,
  summary: answer.summary,
  output: answer.output,
  nextStepContext: answer.next_step_context ?? null,
  proceed: answer.proceed,
  proceedReason: answer.proceed_reason ? cutText(answer.proceed_reason, REASON_BYTES) : null,
  artifacts: Object.keys(answer.artifacts),
  artifactTexts: answer.artifacts,
});

/** A failed call with what it and those before it used. */
function withSpent(asked: RawResponse, before: AgentReply[], { spent, ...failed }: AgentFailure): Performed {
  const replies = spent ? [...before, spent] : before;
  return replies.length === 0 ? failed : { ...failed, facts: toFacts(asked, replies) };
}

function toFacts(asked: RawResponse, replies: (AgentReply | AgentSpent)[]): CallFacts {
  const last = replies.at(-1) as AgentReply | AgentSpent;
  return {
    model: last.model,
    provider: last.provider,
    agentVersion: last.agentVersion,
    uses: replies.flatMap(usesOf),
    raw: {
      ...asked,
      ...('text' in last && { text: last.text, stopReason: last.stopReason ?? undefined }),
      iterations: sum(replies, ({ iterations }) => iterations),
      toolCalls: sum(replies, ({ toolCalls }) => toolCalls),
      trace: replies.flatMap(({ trace }) => trace),
      ...(replies.some(({ traceCut }) => traceCut) && { traceCut: true }),
      ...(last.warnings.length > 0 && { warnings: last.warnings }),
    },
  };
}

const sum = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((total, item) => total + pick(item), 0);

const WARNINGS = new Set(['tool_denied', 'model_fallback', 'llm_retry', 'backend_full', 'events_left_out']);
const levelOf = (event: string): 'info' | 'warn' => (WARNINGS.has(event) ? 'warn' : 'info');

function messageOf(event: string, fields: Record<string, unknown>): string {
  const tool = `${String(fields['server'])}/${String(fields['tool'])}`;
  switch (event) {
    case 'tool_call':
      return `calls ${tool}`;
    case 'tool_result':
      return `${tool} ${fields['is_error'] ? 'answered with an error' : 'answered'}`;
    case 'tool_denied':
      return `${tool} was denied: ${String(fields['reason'])}`;
    case 'llm_call':
      return `asked ${String(fields['model'])}`;
    case 'queued':
      return `waits at position ${String(fields['position'])}`;
    case 'started':
      return 'the wait is over';
    case 'events_left_out':
      return `events left out${'left_out' in fields ? `: ${String(fields['left_out'])}` : ''}`;
    case 'backend_full':
      return `waits: ${String(fields['message'])}`;
    default:
      return event.replaceAll('_', ' ');
  }
}
