import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../service/actor.ts';
import { mayOperate, type PageContext, sendProblem } from './page.ts';
import { STALE_FORM } from './session/route.ts';

const NOT_ALLOWED = {
  status: 403,
  title: 'Your token is read-only',
  text: 'This action requires a token with the role operator or admin. Log out and log in with one.',
};

/** The actor of a posted form; null after a refusal was sent. */
export async function operatorOf(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Actor | null> {
  const { auth } = context.deps;
  if (!auth.mayPost(request)) {
    await sendProblem(context, request, reply, STALE_FORM);
    return null;
  }
  const viewer = auth.viewer(request);
  if (viewer !== null && mayOperate(viewer))
    return { name: viewer.name, role: viewer.role, kind: 'token', requestId: request.id };
  await sendProblem(context, request, reply, NOT_ALLOWED);
  return null;
}
