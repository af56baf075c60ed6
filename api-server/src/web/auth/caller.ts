import { forAsker } from '@signalbox/crds/process/asker';
import type { onRequestHookHandler } from 'fastify';
import type { TokenRole } from '../../config/config.ts';
import { createHeld, type Held, holdingFor } from '../../service/reading/held.ts';
import { whenClosed } from '../when-closed.ts';
import { isMcpCall } from '../mcp/via.ts';
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

/** The name of the token that a request came with; null where none is needed. */
export const tokenOf = ({ caller }: { caller: Caller }): string | null => (caller === ANONYMOUS ? null : caller.name);

const RANK = { viewer: 1, operator: 2, admin: 3 } as const;

/** admin implies operator implies viewer, and reload; webhook stands apart in both directions, reload implies nothing. */
export function permits(role: TokenRole, needed: RouteRole): boolean {
  if (needed === 'none') return true;
  if (role === 'webhook' || needed === 'webhook') return role === needed;
  if (role === 'reload' || needed === 'reload') return role === needed || role === 'admin';
  return RANK[role] >= RANK[needed];
}

/** After the guard: what is read for the request takes turns with what others ask for, and holds its room until it is answered. */
export const forCaller: onRequestHookHandler = (request, reply, done) => {
  // A tool's call is a part of the request that it came with.
  if (isMcpCall()) return done();
  const held = createHeld();
  request.held = held;
  whenClosed(reply.raw, held.taken);
  return forAsker(request.caller.name, () => holdingFor(held, done));
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the route before anything else runs. */
    caller: Caller;
    /** Absent in a request that a tool makes. */
    held?: Held;
  }
}
