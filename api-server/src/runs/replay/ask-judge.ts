import { extractJson } from '@signalbox/crds';
import { z } from 'zod';
import { askAgent, usesOf } from '../agent/model-call.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { spend, stepCost } from '../cost/cost.ts';
import { withDeadline } from '../state/deadline.ts';
import { type AgentReply, failure, type Failure } from '../state/executor.ts';
import { type CostPart, OUTCOMES, type StepExecution } from '../state/model.ts';
import { type Judgement, type JudgeRule, NO_JUDGEMENT } from '../state/replay.ts';
import { stopReason } from '../state/stopped.ts';
import { answerText, judgePrompt } from './judge-prompt.ts';
import type { OneSample, ReplayingDeps } from './replay-deps.ts';

const Verdict = z.object({ verdict: z.enum(OUTCOMES), reason: z.string().max(4_000) });
const VERDICT_SCHEMA = {
  type: 'object',
  required: ['verdict', 'reason'],
  properties: {
    verdict: { type: 'string', enum: [...OUTCOMES], description: 'How the candidate compares with the reference' },
    reason: { type: 'string', description: 'Why, in one or two sentences' },
  },
};

export interface Judging extends OneSample {
  /** Of the candidate's row. */
  name: string;
  candidate: StepExecution;
  /** Null where the recorded execution is gone. */
  recorded: StepExecution | null;
}

type Asking = Judging & { judge: JudgeRule };

/** The verdict on one candidate, with one repair of an answer that does not fit; null where the batch was stopped meanwhile. */
export async function askJudge(deps: ReplayingDeps, run: ActiveRun, asking: Asking): Promise<Judgement | null> {
  const { judge, recorded, candidate } = asking;
  const message = `no verdict within ${judge.timeoutSeconds} s`;
  const after = judge.timeoutSeconds * 1000;
  using deadline = withDeadline({ after, why: 'call_timeout', message, follows: run.controller.signal });
  const input = judgePrompt({
    prompt: recorded?.rawResponse?.prompt ?? '',
    reference: answerText(recorded),
    candidate: answerText(candidate),
    longest: judge.maxOutputChars,
  });
  const costs: CostPart[] = [];
  const asked = { ...asking, run, costs, signal: deadline.signal };
  const reply = await ask(deps, { ...asked, input, attempt: 'judge' });
  const read = reply.ok ? await repaired(deps, { ...asked, input, reply }) : reply;
  const stopped = stopReason(deadline.signal);
  if (stopped && stopped.why !== 'call_timeout') return null;
  const verdict = stopped ? { skipped: 'judge_timeout' as const, reason: message } : read;
  return { ...NO_JUDGEMENT, ...(isFailure(verdict) ? failedBy(verdict) : verdict), ...used(costs) };
}

type Read = z.output<typeof Verdict> | Failure;

const isFailure = (read: object): read is Failure => 'ok' in read;
const failedBy = ({ message: reason, type }: Failure) => ({
  skipped: type === 'output_invalid' ? ('judge_invalid' as const) : ('judge_failed' as const),
  reason,
});

interface Asked extends Asking {
  run: ActiveRun;
  costs: CostPart[];
  signal: AbortSignal;
  input: string;
}

const readVerdict = ({ output, text }: AgentReply) => Verdict.safeParse(output ?? extractJson(text));

/** What the judge said, or what it says when it is asked to repair that. */
async function repaired(deps: ReplayingDeps, asked: Asked & { reply: AgentReply }): Promise<Read> {
  const first = readVerdict(asked.reply);
  if (first.success) return first.data;
  const input = `${asked.input}\n\nYour answer was:\n${asked.reply.text}\n\nIt does not fit the schema:\n${z.prettifyError(first.error)}\n\nAnswer again with one JSON object that does.`;
  const again = await ask(deps, { ...asked, input, attempt: 'judge/repair' });
  if (!again.ok) return again;
  const second = readVerdict(again);
  return second.success ? second.data : failure('output_invalid', 'the answer of the judge does not fit its schema');
}

async function ask(
  { step: { backends, priceOf } }: ReplayingDeps,
  { run, judge, name, input, attempt, signal, costs }: Asked & { attempt: string },
): Promise<AgentReply | Failure> {
  const backend = backends.get(judge.executor);
  if (!backend) return failure('executor_missing', `executors.${judge.executor} is not configured`);
  const reply = await askAgent(backend, run.span, {
    agent: judge.agent,
    input,
    outputSchema: VERDICT_SCHEMA,
    idempotencyKey: `${run.id}/${name}/${attempt}`,
    timeoutMs: judge.timeoutSeconds * 1000,
    runId: run.id,
    pipeline: run.pipeline.name,
    stepName: name,
    team: run.team,
    namespace: run.namespace,
    signal,
    onEvent: () => undefined,
  });
  const spent = reply.ok ? reply : reply.spent;
  const asked = { part: 'verifier', executor: backend.name, agent: judge.agent } as const;
  if (spent) spend(priceOf, { run, costs }, asked, usesOf(spent));
  return reply;
}

/** What the calls used together; null costs are unpriced. */
function used(
  costs: readonly CostPart[],
): Pick<Judgement, 'model' | 'provider' | 'inputTokens' | 'outputTokens' | 'cost'> {
  const last = costs.at(-1);
  if (!last) return { model: null, provider: null, inputTokens: null, outputTokens: null, cost: null };
  const { inputTokens, outputTokens, cost } = stepCost(costs);
  return { model: last.model, provider: last.provider, inputTokens, outputTokens, cost };
}
