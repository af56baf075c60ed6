import { AppError } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { ANONYMOUS, type Caller, permits, type RouteRole } from './caller.ts';
import type { TokenTable } from './tokens.ts';

export type AuthFailure = 'missing' | 'invalid' | 'forbidden';

export interface GuardDeps {
  tokens: TokenTable;
  /** Authentication is off (`auth.allow_unauthenticated`). */
  open: boolean;
  countFailure(reason: AuthFailure): void;
}

export type BearerResult = { ok: true; caller: Caller } | { ok: false; reason: 'missing' | 'invalid' };

const MAX_SECRET_CHARS = 4096;

/** The bearer token of a request; the scheme is case-insensitive, any other scheme counts as an unknown token. */
export function readBearer(tokens: TokenTable, request: FastifyRequest): BearerResult {
  const header = request.headers.authorization;
  if (header === undefined || header === '') return { ok: false, reason: 'missing' };
  if (header.length > MAX_SECRET_CHARS || header.slice(0, 7).toLowerCase() !== 'bearer ')
    return { ok: false, reason: 'invalid' };
  const caller = tokens.bySecret(header.slice(7).trim());
  return caller ? { ok: true, caller } : { ok: false, reason: 'invalid' };
}

const MESSAGES = { missing: 'a bearer token is required', invalid: 'the token is not known' } as const;

export const unauthorized = (reason: 'missing' | 'invalid') => new AppError('unauthorized', MESSAGES[reason]);
export const forbidden = (needed: RouteRole) =>
  new AppError('forbidden', `this requires a token with the role ${needed === 'reload' ? 'admin or reload' : needed}`);

/** Identifies the caller and checks the role; throws the typed refusal (Orchestration 5 and 7). */
export function admit(deps: GuardDeps, request: FastifyRequest, needed: RouteRole): Caller {
  if (needed === 'none') return ANONYMOUS;
  const bearer = readBearer(deps.tokens, request);
  if (deps.open) return bearer.ok ? bearer.caller : ANONYMOUS;
  if (!bearer.ok) {
    deps.countFailure(bearer.reason);
    throw unauthorized(bearer.reason);
  }
  if (permits(bearer.caller.role, needed)) return bearer.caller;
  deps.countFailure('forbidden');
  throw forbidden(needed);
}

/** A body whose length is not told counts as the largest that is read. */
function withinLimit({ caller, headers, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const over = caller.limit?.take(Number(headers['content-length'] ?? routeOptions.bodyLimit ?? 0));
  if (!over) return;
  reply.header('retry-after', over.waitSeconds);
  throw new AppError(
    'rate_limited',
    `this token is over its limit of ${over.over}; try again in ${over.waitSeconds} s`,
  );
}

/** The guard of a JSON route: bearer only, before the body is read. */
export function bearerGuard(deps: GuardDeps, needed: RouteRole): onRequestHookHandler {
  return (request, reply, done) => {
    try {
      request.caller = admit(deps, request, needed);
      withinLimit(request, reply);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}
