import type { PromptRoom } from '../state/prompt-room.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Performed, Unread } from '../state/step-kind.ts';
import { stopReason, type Stopped } from '../state/stopped.ts';
import { goesOnAlone } from '../state/workers.ts';
import type { Templates } from '../prompt/templates.ts';
import { type AnswerRoom, withinRoom } from './answer-room.ts';

interface TakeDeps {
  templates: Pick<Templates, 'turn'>;
  prompts: PromptRoom;
  answers: AnswerRoom;
}

/** What came of an attempt; `inTime` where nothing had stopped the step by then. */
export type Taken = Performed & { inTime?: boolean };

const TIME_OVER: ReadonlySet<Stopped['why']> = new Set(['step_timeout', 'run_timeout']);

/** Why a step ends without what came of it. An answer that came in time counts, however long it waited for its turn. */
export function stoppedBefore(signal: AbortSignal, { ok, inTime }: Taken): Stopped | null {
  const stopped = stopReason(signal);
  return stopped && ok && inTime && TIME_OVER.has(stopped.why) ? null : stopped;
}

/** `signal` ends with the time of the step. */
export async function takeAnswer(
  deps: TakeDeps,
  ctx: Pick<StepContext, 'run' | 'name'>,
  said: Performed | Unread,
  signal: AbortSignal,
): Promise<Taken> {
  const inTime = !signal.aborted;
  return { ...(await weigh(deps, ctx, said)), inTime };
}

/** In one turn, since many branches may be answered in one moment, at length; a text counts while it waits for it. */
async function weigh(
  { templates, prompts, answers }: TakeDeps,
  ctx: Pick<StepContext, 'run' | 'name'>,
  said: Performed | Unread,
): Promise<Performed> {
  const { run } = ctx;
  if (!('read' in said)) {
    if (!goesOnAlone(run)) await templates.turn(run);
    return withinRoom(answers, ctx, said);
  }
  using held = prompts.hold(run, { raw: null, sends: said.chars });
  if (held.refused) return { ...held.refused, request: said.request };
  await templates.turn(run);
  return withinRoom(answers, ctx, said.read());
}
