import { AppError } from '@signalbox/crds';
import type { FastifyRequest } from 'fastify';
import { type Authenticate, grants, type OnAuthFailure, type Scope } from '../identity/authenticate.ts';

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
  onAuthFailure: OnAuthFailure;
}

type Asked = Pick<FastifyRequest, 'is404' | 'routeOptions' | 'headers' | 'method' | 'ip'>;

/** Refuses a request without the scope of its route (Gateway 5). An unknown route needs a token too, so it reveals nothing. */
export function authorize(request: Asked, deps: AccessDeps): void {
  const { is404, routeOptions } = request;
  const needed = neededScope(is404 ? 'invoke' : routeOptions.config.scope, deps.metricsAuth);
  if (needed !== null) requireScope(request, needed, deps);
}

function neededScope(scope: RouteScope = 'admin', metricsAuth: boolean): Scope | null {
  if (scope === 'open') return null;
  if (scope === 'metrics') return metricsAuth ? 'invoke' : null;
  return scope;
}

export function requireScope(
  { headers, method, routeOptions, ip }: Omit<Asked, 'is404'>,
  needed: Scope,
  { authenticate, onAuthFailure }: Pick<AccessDeps, 'authenticate' | 'onAuthFailure'>,
): void {
  const who = authenticate(headers.authorization);
  const refused = { route: `${method} ${routeOptions.url ?? 'unknown'}`, address: ip };
  if (!who.ok) {
    onAuthFailure(who.reason, refused);
    const message = who.reason === 'missing' ? 'a bearer token is required' : 'the token is invalid';
    throw new AppError('unauthorized', message);
  }
  if (grants(who.token, needed)) return;
  onAuthFailure('scope', refused);
  // Of a reload the scope is `admin`; a token that may do nothing else is a smaller way to it.
  throw new AppError('forbidden', `the ${who.token} token lacks the scope ${needed === 'reload' ? 'admin' : needed}`);
}
