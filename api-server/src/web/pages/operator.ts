import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../service/actor.ts';
import type { Viewer } from '../auth/page-auth.ts';
import { mayChange, mayOperate, type PageContext, sendProblem } from './page.ts';
import { STALE_FORM } from './session/route.ts';

const NOT_ALLOWED = {
  status: 403,
  title: 'Your token is read-only',
  text: 'This action requires a token with the role operator or admin. Log out and log in with one.',
};

const ADMINS_ONLY = {
  status: 403,
  title: 'Your token may not change definitions',
  text: 'This action requires a token with the role admin. Log out and log in with one.',
};

/** The actor of a posted form; null after a refusal was sent. */
export const operatorOf = actorWith(mayOperate, NOT_ALLOWED);
/** The same, of a form that only admins may post. */
export const adminOf = actorWith(mayChange, ADMINS_ONLY);

function actorWith(may: (viewer: Viewer | null) => boolean, refusal: typeof NOT_ALLOWED) {
  return (context: PageContext, request: FastifyRequest, reply: FastifyReply) =>
    actorOf(context, request, reply, { may, refusal });
}

interface Needed {
  may(viewer: Viewer | null): boolean;
  refusal: typeof NOT_ALLOWED;
}

async function actorOf(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { may, refusal }: Needed,
): Promise<Actor | null> {
  const { auth } = context.deps;
  if (!auth.mayPost(request)) {
    await sendProblem(context, request, reply, STALE_FORM);
    return null;
  }
  const viewer = auth.viewer(request);
  if (viewer !== null && may(viewer))
    return { name: viewer.name, role: viewer.role, kind: 'token', requestId: request.id };
  await sendProblem(context, request, reply, refusal);
  return null;
}
