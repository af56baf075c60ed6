import { AppError } from '@signalbox/crds';
import type { FastifyRequest } from 'fastify';
import { type Authenticate, grants, type Scope } from '../identity/authenticate.ts';

/** `metrics` is open, or `invoke` where `server.metrics_auth` is set. */
export type RouteScope = 'open' | 'metrics' | Scope;

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: RouteScope;
  }
}

export interface AccessDeps {
  authenticate: Authenticate;
  metricsAuth: boolean;
  onAuthFailure: (reason: string) => void;
}

/** Refuses a request without the scope of its route (Gateway 5). An unknown route needs a token too, so it reveals nothing. */
export function authorize(request: Pick<FastifyRequest, 'is404' | 'routeOptions' | 'headers'>, deps: AccessDeps): void {
  const { is404, routeOptions, headers } = request;
  const needed = neededScope(is404 ? 'invoke' : routeOptions.config.scope, deps.metricsAuth);
  if (needed !== null) requireScope(headers.authorization, needed, deps);
}

function neededScope(scope: RouteScope = 'admin', metricsAuth: boolean): Scope | null {
  if (scope === 'open') return null;
  if (scope === 'metrics') return metricsAuth ? 'invoke' : null;
  return scope;
}

export function requireScope(
  authorization: string | undefined,
  needed: Scope,
  { authenticate, onAuthFailure }: Pick<AccessDeps, 'authenticate' | 'onAuthFailure'>,
): void {
  const who = authenticate(authorization);
  if (!who.ok) {
    onAuthFailure(who.reason);
    const message = who.reason === 'missing' ? 'a bearer token is required' : 'the token is invalid';
    throw new AppError('unauthorized', message);
  }
  if (grants(who.token, needed)) return;
  onAuthFailure('scope');
  // Of a reload the scope is `admin`; a token that may do nothing else is a smaller way to it.
  throw new AppError('forbidden', `the ${who.token} token lacks the scope ${needed === 'reload' ? 'admin' : needed}`);
}
