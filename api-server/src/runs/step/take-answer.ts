import type { PromptRoom } from '../state/prompt-room.ts';
import type { Performed, Unread } from '../state/step-kind.ts';
import type { Stopped } from '../state/stopped.ts';
import { goesOnAlone } from '../state/workers.ts';
import type { Templates } from '../prompt/templates.ts';
import { type Answering, type AnswerRoom, withinRoom } from './answer-room.ts';

interface TakeDeps {
  templates: Pick<Templates, 'turn'>;
  prompts: PromptRoom;
  answers: AnswerRoom;
}

/** What came of an attempt; `inTime` where it is an answer that came before the step's time was over, however long it waited for its turn. */
export type Taken = Performed & { inTime?: boolean };

/** `signal` ends with the time of the step. */
export async function takeAnswer(
  deps: TakeDeps,
  ctx: Answering,
  said: Performed | Unread,
  signal: AbortSignal,
): Promise<Taken> {
  const inTime = !signal.aborted;
  const performed = await weigh(deps, ctx, said);
  return performed.ok ? { ...performed, inTime } : performed;
}

/** In one turn, since many branches may be answered in one moment, at length; a text counts while it waits for it. */
async function weigh(
  { templates, prompts, answers }: TakeDeps,
  ctx: Answering,
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

/** What people decided, or a sub-run came to, is no matter of time. */
export const holds = (performed: Performed, { why }: Stopped): boolean =>
  !performed.ok && performed.ends !== undefined && why !== 'cancelled' && why !== 'shutdown';
