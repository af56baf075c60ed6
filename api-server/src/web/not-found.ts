import { AppError } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MethodNotAllowed } from './errors.ts';
import { admit, type GuardDeps } from './auth/guard.ts';
import type { Route } from './route.ts';

/** Says which methods the table has for a path, so that a wrong method is told from a wrong address. */
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

/** An address that is not served tells so only to those who may read (Orchestration 7); it does not read the body. */
export function refuseUnknown(deps: NotFoundDeps, request: FastifyRequest, reply: FastifyReply): never {
  admit(deps, request, 'viewer');
  const methods = deps.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) throw new AppError('not_found', 'there is nothing at this address');
  reply.header('allow', methods.join(', '));
  throw new MethodNotAllowed(`this address takes ${methods.join(', ')}`);
}
