import { failure } from '../state/executor.ts';
import type { HumanField } from '@signalbox/crds';
import { defaultsOf } from './fields.ts';
import { pendingApproval, type Approval, type ApprovalsOfRun, type FieldValues } from './approval.ts';
import { noteBlank } from '../prompt/blanks.ts';
import { renderPrompt, THE_PROMPT } from '../prompt/prompt.ts';
import type { RawResponse } from '../state/model.ts';
import { holdSlot } from '../state/shared-slot.ts';
import { type Answer, type Attempt, noFacts, type Performed, plainAnswer, type StepKind } from '../state/step-kind.ts';
import type { AnyStep, StepContext } from '../state/step-context.ts';
import type { Templates } from '../prompt/templates.ts';

export interface HumanStepDeps {
  templates: Templates;
  now(): number;
  approvals: ApprovalsOfRun;
}

type AnyHumanStep = Extract<AnyStep, { executor: 'human' }>;

/** A step that waits for a person: the question is stored with its start and closed by a decision or its time (Orchestration 3). */
export function humanStep(deps: HumanStepDeps): StepKind {
  return {
    prepare: async (ctx, earlier) => {
      const step = ctx.step as AnyHumanStep;
      const prompt =
        earlier?.prompt === undefined ? await renderPrompt(deps, ctx, step) : { ok: true as const, raw: earlier };
      for (const value of earlier?.missing ?? []) noteBlank(ctx.run, { name: ctx.name, what: THE_PROMPT, value });
      if (!prompt.ok) return prompt;
      const { raw } = prompt;
      // For the texts of its messages: hundreds may ask in one moment.
      await deps.templates.turn(ctx.run);
      return {
        ok: true,
        agent: null,
        model: null,
        promptHash: null,
        raw,
        stores: (raw.prompt ?? '').length + JSON.stringify(step.fields).length,
        asks: true,
        keepsTime: true,
        withStart: ({ id, startedAt }) => {
          const approval = questionOf(ctx, raw, { id, startedAt });
          if (!ctx.run.inFlight.has(ctx.name)) noteQuestion(ctx, approval);
          return deps.approvals.ask(ctx.run, approval);
        },
        perform: (attempt) => wait(deps, { ctx, step, raw }, attempt),
      };
    },
  };
}

interface Question {
  ctx: StepContext;
  step: AnyHumanStep;
  raw: RawResponse;
}

const questionOf = (ctx: StepContext, raw: RawResponse, { id, startedAt }: Attempt['step']): Approval => {
  const { fields, timeout_seconds: seconds, required, not_the_starter: notTheStarter } = ctx.step as AnyHumanStep;
  return pendingApproval(ctx, {
    id,
    kind: 'step',
    question: raw.prompt ?? '',
    fields,
    ...(required === undefined ? {} : { required }),
    ...(notTheStarter === undefined ? {} : { notTheStarter }),
    tool: null,
    requestedAt: startedAt,
    // From the stored start, so that a restart does not extend the time.
    expiresAt: startedAt + seconds * 1000,
  });
};

function noteQuestion({ run, name }: StepContext, { id, expiresAt }: Approval): void {
  const fields = { step_name: name, approval_id: id, expires_at: new Date(expiresAt).toISOString() };
  run.journal.add('info', 'approval_requested', `${name} waits for a decision`, fields);
}

async function wait(deps: HumanStepDeps, question: Question, attempt: Attempt): Promise<Performed> {
  const { ctx, step, raw } = question;
  const { run, name, slot } = ctx;
  slot.giveBack();
  const closed = await deps.approvals.answer(questionOf(ctx, raw, attempt.step), attempt);
  const performed = toPerformed(question, closed);
  // A question that the end of the run closed had its time taken.
  const holds = !performed.ok && performed.ends && (closed.status === 'rejected' || !attempt.signal.aborted);
  noteEnd(ctx, closed);
  await attempt.store(deps.approvals.goesOn(run));
  if (goesOn(performed, ctx, step)) {
    const decidedAt = deps.now();
    await holdSlot(slot, attempt.signal);
    attempt.waited('slot', decidedAt, deps.now());
  }
  return attempt.signal.aborted && !holds ? failure('cancelled', `${name} was stopped`) : performed;
}

/** A run that ends here needs no slot for it, and what people rejected goes on nowhere; of a failure, a sub-run's parent may. */
const goesOn = (performed: Performed, { run }: StepContext, { on_failure: policy }: AnyHumanStep): boolean =>
  performed.ok ||
  (performed.ends === undefined &&
    (run.depth > 1 || (typeof policy === 'string' ? policy : policy.policy) === 'continue'));

function noteEnd({ run, name }: StepContext, { id, status, decidedBy, comment }: Approval): void {
  const fields = { step_name: name, approval_id: id };
  switch (status) {
    case 'approved':
    case 'rejected':
      run.journal.add('info', 'approval_decided', `${name} was ${status} by ${decidedBy ?? ''}`, {
        ...fields,
        decision: status,
        decided_by: decidedBy,
        comment,
      });
      break;
    case 'timed_out':
      run.journal.add('warn', 'approval_expired', `the approval of ${name} expired without a decision`, fields);
      break;
    case 'cancelled':
    case 'pending':
      break;
    default:
      status satisfies never;
  }
}

function toPerformed({ step, raw }: Question, { status, decidedBy, comment, answers, fields }: Approval): Performed {
  const facts = noFacts(raw);
  const said = comment === null ? '' : `: ${comment}`;
  switch (status) {
    case 'approved':
      return {
        ok: true,
        facts,
        answer: answerOf(1, `approved by ${decidedBy ?? ''}${said}`, { values: answers, comment }),
      };
    case 'rejected': {
      const message = `rejected by ${decidedBy ?? ''}${said}`;
      return {
        ...failure('rejected', message),
        ends: 'aborted',
        facts,
        answer: answerOf(0, message, { values: answers, comment }),
      };
    }
    case 'timed_out':
      return timedOut(step, fields, raw);
    case 'cancelled':
    case 'pending':
      return { ...failure('cancelled', 'the approval was cancelled'), facts };
    default:
      return status satisfies never;
  }
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** `15 minutes`, `90 seconds`. */
function timeWords(seconds: number): string {
  const [size, word] = UNITS.find(([unit]) => seconds % unit === 0) ?? [1, 'second'];
  const n = seconds / size;
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

function timedOut(
  { on_timeout: rule, timeout_seconds: seconds }: AnyHumanStep,
  fields: HumanField[],
  raw: RawResponse,
): Performed {
  const message = `no decision within ${timeWords(seconds)}`;
  const timeout = { ...failure('timeout', message), facts: noFacts(raw) };
  switch (rule) {
    case 'fail':
      return timeout;
    case 'escalate':
      return { ...timeout, ends: 'escalated' };
    case 'proceed':
      return {
        ok: true,
        facts: noFacts(raw),
        answer: answerOf(null, `${message}; the run continues`, { values: defaultsOf(fields), comment: null }),
      };
    default:
      return rule satisfies never;
  }
}

const answerOf = (
  confidence: number | null,
  summary: string,
  { values, comment }: { values: FieldValues | null; comment: string | null },
): Answer => plainAnswer({ confidence, summary, output: { ...values } }, comment);
