import { AppError } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MethodNotAllowed } from './errors.ts';
import { admit, type GuardDeps } from './auth/guard.ts';
import type { Route } from './route.ts';

/** The methods that the route table has for a path, to distinguish 405 from 404. */
export function createMethodLookup(routes: readonly Route[]): (path: string) => string[] {
  const patterns = routes.map(({ method, url }) => ({ method, pattern: toPattern(url) }));
  return (path) => {
    const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method as string));
    return methods.has('GET') ? [...methods, 'HEAD'] : [...methods];
  };
}

function toPattern(url: string): RegExp {
  const source = url.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.+');
  return new RegExp(`^${source}$`);
}

export interface NotFoundDeps extends GuardDeps {
  methodsOf(path: string): string[];
}

/** Answers 404 or 405 only to callers with at least the role viewer (Orchestration 7), without reading the body. */
export function refuseUnknown(deps: NotFoundDeps, request: FastifyRequest, reply: FastifyReply): never {
  admit(deps, request, 'viewer');
  const methods = deps.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) throw new AppError('not_found', 'there is nothing at this address');
  reply.header('allow', methods.join(', '));
  throw new MethodNotAllowed(`this address takes ${methods.join(', ')}`);
}
