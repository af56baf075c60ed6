import { AppError } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MethodNotAllowed } from './errors.ts';
import type { RouteRole } from './auth/caller.ts';
import { admit, type GuardDeps, readBearer } from './auth/guard.ts';
import type { Route } from './route.ts';

/** What the route table has for a path. */
export interface Served {
  methods: string[];
  roles: RouteRole[];
}

/** Looks a path up in the route table, to distinguish 405 from 404. */
export function createPathLookup(routes: readonly Route[]): (path: string) => Served {
  const patterns = routes.map(({ method, url, role }) => ({ method, role, pattern: toPattern(url) }));
  return (path) => {
    const found = patterns.filter(({ pattern }) => pattern.test(path));
    const methods = new Set(found.map(({ method }) => method as string));
    return {
      methods: methods.has('GET') ? [...methods, 'HEAD'] : [...methods],
      roles: found.map(({ role }) => role),
    };
  };
}

function toPattern(url: string): RegExp {
  const source = url.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.+');
  return new RegExp(`^${source}$`);
}

export interface NotFoundDeps extends GuardDeps {
  servedAt(path: string): Served;
}

/** The roles that no viewer has: their tokens may know what their own address takes. */
const APART: readonly RouteRole[] = ['webhook', 'reload'];

/**
 * Answers 404 or 405 only to callers with at least the role viewer, or with the role of the address (Orchestration 7), without
 * reading the body.
 */
export function refuseUnknown(deps: NotFoundDeps, request: FastifyRequest, reply: FastifyReply): never {
  const { methods, roles } = deps.servedAt(request.url.split('?', 1)[0] ?? '');
  const bearer = readBearer(deps.tokens, request);
  const own = bearer.ok && APART.includes(bearer.caller.role) && roles.includes(bearer.caller.role);
  admit(deps, request, own ? bearer.caller.role : 'viewer');
  if (methods.length === 0) throw new AppError('not_found', 'there is nothing at this address');
  reply.header('allow', methods.join(', '));
  throw new MethodNotAllowed(`this address takes ${methods.join(', ')}`);
}
