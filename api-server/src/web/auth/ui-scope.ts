import { isIP } from 'node:net';
import formbody from '@fastify/formbody';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import { AppError, ERROR_STATUS, errorBody } from '@signalbox/crds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDescription } from '../openapi.ts';
import { forCaller, type RouteRole } from './caller.ts';
import { csrfRefused, hasCredentials, type PageAuth } from './page-auth.ts';

/** `describe` makes what `/openapi.json` answers. */
export type RegisterPages = (
  app: FastifyInstance,
  auth: PageAuth,
  describe: () => Promise<ApiDescription>,
) => Promise<void>;

/** Pages that need no session, and posts that need no more than one. Every other post needs an operator. */
const ROLES: Record<string, RouteRole> = {
  'GET /ui/login': 'none',
  'POST /ui/login': 'none',
  'POST /ui/logout': 'viewer',
  'POST /ui/theme': 'viewer',
};

/**
 * Everything under `/ui`: a session or a bearer token, CSRF on every post, people sent to the login page
 * (Orchestration 5, rules 6 to 8). It holds whatever the pages themselves check.
 */
export async function uiScope(
  app: FastifyInstance,
  auth: PageAuth,
  pages: (app: FastifyInstance, auth: PageAuth) => Promise<void>,
): Promise<void> {
  await app.register(formbody, { bodyLimit: 64 * 1024 });
  const takeTry = await loginTries(app);
  app.addHook('onRequest', async (request, reply) => {
    const role = roleOf(request);
    if (role !== 'none' && isRead(request) && !hasCredentials(request) && auth.viewer(request) === null)
      return toLogin(request, reply);
    try {
      request.caller = auth.admit(request, role);
    } catch (error) {
      if (error instanceof AppError && error.type === 'unauthorized' && isRead(request)) return toLogin(request, reply);
      throw withStatus(error);
    }
  });
  app.addHook('onRequest', forCaller);
  app.addHook('preHandler', async (request, reply) => {
    if (isRead(request)) return undefined;
    const isLogin = roleOf(request) === 'none';
    if (!(isLogin ? auth.sameOrigin(request) : auth.mayPost(request))) throw withStatus(csrfRefused());
    const tries = isLogin ? await takeTry(request, { increment: false }) : NO_LIMIT;
    return tries.isAllowed || tries.remaining > 0 ? undefined : tooManyTries(request, reply, tries.ttlInSeconds);
  });
  app.addHook('onSend', async (request, reply) => {
    if (!isRead(request) && roleOf(request) === 'none' && reply.statusCode === 401) await takeTry(request);
  });
  await pages(app, auth);
}

/** Failed logins of one address until it has to wait, how long it counts, and addresses that are remembered. */
export const MAX_TRIES = 10;
export const WINDOW_MS = 5 * 60_000;
const MAX_ADDRESSES = 10_000;
const NO_LIMIT = { isAllowed: true } as const;

/** Each address has tries of its own, an IPv6 network (/64) together; only failures are counted, never for everyone. */
async function loginTries(app: FastifyInstance) {
  await app.register(rateLimit, {
    global: false,
    max: MAX_TRIES,
    timeWindow: WINDOW_MS,
    cache: MAX_ADDRESSES,
    // The forwarded value may not be an address.
    keyGenerator: ({ ip, socket }) => normalizeIP(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip),
  });
  return app.createRateLimit();
}

const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD';
const pathOf = ({ url }: FastifyRequest) => url.split('?', 1)[0] ?? url;

function roleOf(request: FastifyRequest): RouteRole {
  const path = pathOf(request);
  const method = isRead(request) ? 'GET' : request.method;
  if (method === 'GET' && path.startsWith('/ui/assets/')) return 'none';
  return ROLES[`${method} ${path}`] ?? (method === 'GET' ? 'viewer' : 'operator');
}

export const toLogin = (request: FastifyRequest, reply: FastifyReply) =>
  reply.redirect(`/ui/login?next=${encodeURIComponent(request.url)}`, 303);

/** A person gets a page, anything else the envelope. */
function tooManyTries(request: FastifyRequest, reply: FastifyReply, seconds: number): FastifyReply {
  const message = `too many failed logins; try again in ${seconds} s`;
  void reply.header('retry-after', String(seconds));
  if (request.headers.accept?.includes('text/html')) throw withStatus(new AppError('rate_limited', message));
  return reply.code(ERROR_STATUS.rate_limited).send(errorBody('rate_limited', message));
}

/** Pages show an error by its `statusCode`. */
function withStatus(error: unknown): unknown {
  return error instanceof AppError ? Object.assign(error, { statusCode: ERROR_STATUS[error.type] }) : error;
}
