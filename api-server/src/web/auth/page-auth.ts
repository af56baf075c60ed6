import { AppError } from '@signalbox/crds';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthConfig } from '../../config/config.ts';
import { ANONYMOUS, type Caller, permits, type RouteRole } from './caller.ts';
import { forbidden, type GuardDeps, readBearer, unauthorized } from './guard.ts';
import { type CookieSession, type EndedSessions, sameText, type Session, type Sessions } from './session.ts';

export interface PageAuthDeps extends GuardDeps {
  sessions: Sessions;
  endedSessions: EndedSessions;
  config: Pick<AuthConfig, 'sessionMaxAgeSeconds' | 'sessionMaxAgeRememberedSeconds'>;
}

/** Who looks at a page; `csrf` goes into every form. */
export interface Viewer {
  name: string;
  role: 'viewer' | 'operator' | 'admin';
  csrf: string;
}

/** What pages may ask about sessions (Orchestration 5, rules 6 to 8). */
export interface PageAuth {
  /** Reads the cookie once, before anything else is asked: without it a request has no session. */
  look(request: FastifyRequest): Promise<void>;
  viewer(request: FastifyRequest): Viewer | null;
  /** Sets the session cookie when the token is known and may see pages. */
  logIn(request: FastifyRequest, reply: FastifyReply, entry: { token: string; remember: boolean }): boolean;
  /** Ends the session for good, not only in this browser. */
  logOut(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Whether a posted form carries this session's CSRF token and comes from our own origin. */
  mayPost(request: FastifyRequest): boolean;
  /** The caller of a `/ui` request, or the typed refusal: 401 without one, 403 with too small a role. */
  admit(request: FastifyRequest, needed: RouteRole): Caller;
  sameOrigin(request: FastifyRequest): boolean;
}

const COOKIE = 'service_session';

export function createPageAuth(deps: PageAuthDeps): PageAuth {
  const { tokens, sessions, endedSessions, config } = deps;
  const known = new WeakMap<FastifyRequest, CookieSession>();

  const sessionOf = (request: FastifyRequest): Session | null => {
    const bearer = readBearer(tokens, request);
    if (bearer.ok) return { caller: bearer.caller, csrf: sessions.csrfFor(`bearer:${bearer.caller.name}`) };
    const session = known.get(request) ?? null;
    if (session || !deps.open) return session;
    return { caller: ANONYMOUS, csrf: sessions.csrfFor('open') };
  };

  const sameOrigin = (request: FastifyRequest) => {
    const { origin } = request.headers;
    const fetchedFrom = request.headers['sec-fetch-site'];
    if (fetchedFrom !== undefined && fetchedFrom !== 'same-origin' && fetchedFrom !== 'none') return false;
    if (origin === undefined) return true;
    return URL.canParse(origin) && new URL(origin).host === request.host.toLowerCase();
  };

  const setCookie = (request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number) =>
    reply.setCookie(COOKIE, value, { path: '/ui', maxAge, httpOnly: true, sameSite: 'lax', secure: isTls(request) });

  return {
    look: async (request) => {
      const cookie = cookieOf(request);
      const session = cookie === undefined ? null : sessions.open(cookie);
      if (session && !(await endedSessions.has(session.id))) known.set(request, session);
    },
    sameOrigin,
    viewer: (request) => {
      const session = sessionOf(request);
      if (!session) return null;
      const { name, role } = session.caller;
      return role === 'webhook' || role === 'reload' ? null : { name, role, csrf: session.csrf };
    },
    logIn: (request, reply, { token, remember }) => {
      const known = token === '' ? null : tokens.bySecret(token.trim());
      if (!known || !permits(known.role, 'viewer')) {
        deps.countFailure(token === '' ? 'missing' : known ? 'forbidden' : 'invalid');
        return false;
      }
      const maxAge = remember ? config.sessionMaxAgeRememberedSeconds : config.sessionMaxAgeSeconds;
      setCookie(request, reply, sessions.seal(known, maxAge), maxAge);
      return true;
    },
    logOut: async (request, reply) => {
      setCookie(request, reply, '', 0);
      const session = known.get(request);
      if (session) await endedSessions.add(session.id, session.expiresAt);
    },
    mayPost: (request) => {
      if (!sameOrigin(request)) return false;
      if (readBearer(tokens, request).ok) return true;
      const session = sessionOf(request);
      return session !== null && sameText(postedToken(request), session.csrf);
    },
    admit: (request, needed) => {
      if (needed === 'none') return ANONYMOUS;
      const session = sessionOf(request);
      if (session && (deps.open || permits(session.caller.role, needed))) return session.caller;
      if (session) {
        deps.countFailure('forbidden');
        throw forbidden(needed);
      }
      const reason = hasCredentials(request) ? 'invalid' : 'missing';
      deps.countFailure(reason);
      throw unauthorized(reason);
    },
  };
}

/** Whether the request has a token or a session, valid or not. */
export const hasCredentials = (request: FastifyRequest): boolean =>
  Boolean(request.headers.authorization) || Boolean(cookieOf(request));

const cookieOf = ({ cookies }: FastifyRequest): string | undefined => cookies[COOKIE];

/** TLS ended here, or at a trusted proxy that says so (Orchestration 5, rule 6). */
const isTls = ({ socket, protocol }: FastifyRequest): boolean => 'encrypted' in socket || protocol === 'https';

/** The CSRF token of a form (`_csrf`) or of a script (`x-csrf-token`). */
function postedToken({ body, headers }: FastifyRequest): string {
  const header = headers['x-csrf-token'];
  if (typeof header === 'string') return header;
  const field = typeof body === 'object' && body !== null && '_csrf' in body ? body._csrf : undefined;
  return typeof field === 'string' ? field : '';
}

export const csrfRefused = () =>
  new AppError('forbidden', 'the form has expired or comes from another site; reload the page and send it again');
