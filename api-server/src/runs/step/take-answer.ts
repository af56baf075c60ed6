import type { PromptRoom } from '../state/prompt-room.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Performed, Unread } from '../state/step-kind.ts';
import { goesOnAlone } from '../state/workers.ts';
import type { Templates } from '../prompt/templates.ts';
import { type AnswerRoom, withinRoom } from './answer-room.ts';

interface TakeDeps {
  templates: Pick<Templates, 'turn'>;
  prompts: PromptRoom;
  answers: AnswerRoom;
}

/** In one turn, since many branches may be answered in one moment, at length; a text counts while it waits for it. */
export async function takeAnswer(
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
