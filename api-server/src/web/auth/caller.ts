import { forAsker } from '@signalbox/crds/process/asker';
import type { onRequestHookHandler } from 'fastify';
import type { TokenRole } from '../../config/config.ts';
import type { TokenLimit } from './token-limit.ts';

/** The role that a route requires: none, `webhook`, `reload` (or admin), or at least one of the ranked roles (Orchestration 5). */
export type RouteRole = 'none' | TokenRole;

/** The caller: a named token, or anonymous where authentication is off. */
export interface Caller {
  name: string;
  role: TokenRole;
  team: string | null;
  /** Of the deliveries of a webhook token; absent or null without one. */
  limit?: TokenLimit | null;
}

/** The caller of an open service (`auth.allow_unauthenticated`), and of routes that need no token. */
export const ANONYMOUS: Caller = { name: 'anonymous', role: 'admin', team: null };

const RANK = { viewer: 1, operator: 2, admin: 3 } as const;

/** admin implies operator implies viewer, and reload; webhook stands apart in both directions, reload implies nothing. */
export function permits(role: TokenRole, needed: RouteRole): boolean {
  if (needed === 'none') return true;
  if (role === 'webhook' || needed === 'webhook') return role === needed;
  if (role === 'reload' || needed === 'reload') return role === needed || role === 'admin';
  return RANK[role] >= RANK[needed];
}

/** After the guard: what is read for the request takes turns with what others ask for. */
export const forCaller: onRequestHookHandler = ({ caller }, _reply, done) => forAsker(caller.name, done);

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the route before anything else runs. */
    caller: Caller;
  }
}
