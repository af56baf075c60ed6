import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../service/services.ts';
import type { ApiDescription } from '../openapi.ts';

/** Who looks at a page; `csrf` goes into every form (Orchestration 5, rules 6 to 8). */
export interface Viewer {
  name: string;
  role: 'viewer' | 'operator' | 'admin';
  csrf: string;
}

/** The session rules live in `web/auth`; pages only ask. */
export interface PageAuth {
  /** The viewer behind the session cookie, or null. */
  viewer(request: FastifyRequest): Viewer | null;
  /** Checks the token and sets the session cookie on success. */
  logIn(
    request: FastifyRequest,
    reply: FastifyReply,
    entry: { token: string; remember: boolean },
  ): Promise<boolean> | boolean;
  logOut(request: FastifyRequest, reply: FastifyReply): Promise<void> | void;
  /** Whether a posted form carries this session's CSRF token (`_csrf`) and comes from our own origin. */
  mayPost(request: FastifyRequest): boolean;
}

/** What pages need: the operations of the service, and who looks. */
export interface PageDeps extends Omit<Services, 'deliveries' | 'definitionWrites' | 'status'> {
  auth: PageAuth;
  version: string;
  /** What `GET /openapi.json` answers. */
  describe(): Promise<ApiDescription>;
  /** Display label only (Orchestration 2.13). */
  currency: string;
  now(): number;
}
