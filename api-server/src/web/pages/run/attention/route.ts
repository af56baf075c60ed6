import type { FastifyInstance } from 'fastify';
import type { ZodType } from 'zod';
import { Acknowledgement, Reopening, RunResolution } from '../../../../service/attention/attention.ts';
import type { Actor } from '../../../../service/actor.ts';
import { operatorOf } from '../../operator.ts';
import { type PageContext, sendProblem } from '../../page.ts';
import type { PageDeps } from '../../page-deps.ts';
import { paths } from '../../paths.ts';
import { unlessConflict } from '../../problems.ts';

const BAD_CHANGE = {
  status: 400,
  title: 'This is no change of a run that needs people',
  text: 'A run is acknowledged, resolved as handled, false alarm or will not fix, or opened again.',
};

type Form = Record<string, unknown>;
type Act = (id: string, by: Actor) => Promise<unknown>;

/** What a posted form asks for; null where it asks for nothing that there is. */
export function attentionChange(escalations: PageDeps['escalations'], form: Form): Act | null {
  const { assignee, note, resolution } = form;
  const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null);
  const asked = <T>(schema: ZodType<T>, body: object, act: (given: T) => Act): Act | null => {
    const parsed = schema.safeParse(body);
    return parsed.success ? act(parsed.data) : null;
  };
  switch (form['action']) {
    case 'acknowledge':
      return asked(
        Acknowledgement,
        { assignee: text(assignee), note: text(note) },
        (given) => (id, by) => escalations.acknowledge(id, given, by),
      );
    case 'resolve':
      return asked(
        RunResolution,
        { resolution, note: text(note) },
        (given) => (id, by) => escalations.resolve(id, given, by),
      );
    case 'reopen':
      return asked(Reopening, { note: text(note) }, (given) => (id, by) => escalations.reopen(id, given, by));
    default:
      return null;
  }
}

/** The form of the page of a run. */
export function registerAttention(app: FastifyInstance, context: PageContext): void {
  app.post('/ui/runs/:id/attention', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const { id } = request.params as { id: string };
    const change = attentionChange(context.deps.escalations, (request.body ?? {}) as Form);
    if (change === null) return sendProblem(context, request, reply, BAD_CHANGE);
    // A run that somebody else changed meanwhile is shown as it is.
    await change(id, by).catch(unlessConflict);
    return reply.redirect(`${paths.run(id)}#attention`, 303);
  });
}
