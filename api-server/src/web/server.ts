import { randomBytes } from 'node:crypto';
import cookie from '@fastify/cookie';
import { clientErrorHandler } from '@signalbox/crds/process/client-error';
import { fairServer } from '@signalbox/crds/process/fair-connections';
import fastify, {
  type onErrorHookHandler,
  LogController,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Logger } from 'pino';
import type { AuthConfig, Config } from '../config/config.ts';
import { type Caller, forCaller } from './auth/caller.ts';
import type { EventStream } from './event-stream.ts';
import { toAnswer } from './errors.ts';
import { type AuthFailure, bearerGuard, type GuardDeps, readBearer } from './auth/guard.ts';
import { createPathLookup, refuseUnknown } from './not-found.ts';
import { createPageAuth, type PageAuth } from './auth/page-auth.ts';
import { readJson, UnreadableBody } from './read-json.ts';
import type { Route } from './route.ts';
import { routeTable, type RoutesDeps } from './routes/index.ts';
import { readPart, schemaOf, writeAnswer } from './schemas.ts';
import { createSessions, type EndedSessions } from './auth/session.ts';
import { tlsOptions } from './tls.ts';
import { createTokenTable } from './auth/tokens.ts';
import { type RegisterPages, toLogin, uiScope } from './auth/ui-scope.ts';

export interface ServerDeps extends Pick<RoutesDeps, 'services' | 'version'> {
  log: Logger;
  now(): number;
  countAuthFailure(reason: AuthFailure): void;
  endedSessions: EndedSessions;
  /** Only where `logging.dir` is set. */
  accessLog?: Logger;
  /** Registers the pages; without it only the JSON routes are served. */
  pages?: RegisterPages;
}

export type WebApp = FastifyInstance;

const MAX_STREAMS = 200;
const MAX_STREAMS_PER_TOKEN = 10;
const DRAIN_MS = 5_000;

/** The HTTP server: JSON routes from one table, pages under `/ui`. It does not listen yet. */
export async function createServer(
  config: Pick<Config, 'server' | 'auth'>,
  deps: ServerDeps,
): Promise<FastifyInstance> {
  const app = createApp(config.server, deps);
  await app.register(cookie);
  const guard = createGuard(config.auth, deps);
  const auth = createAuth(config.auth, guard, deps);
  const streams = { max: MAX_STREAMS, maxPerToken: MAX_STREAMS_PER_TOKEN, open: new Map<EventStream, string | null>() };
  const { routes, describe } = routeTable({
    ...deps,
    metricsAuth: config.auth.metricsAuth,
    streams,
    inject: (request) => app.inject(request),
  });
  const servedAt = createPathLookup(routes);

  app.addHook('onRequest', (request, _reply, done) => {
    if (mayHaveSession(request)) auth.look(request).then(() => done(), done);
    else done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    if (deps.pages && isPersonAtTheDoor(request)) return reply.redirect('/ui/', 303);
    const isPage = request.method === 'GET' && request.url.startsWith('/ui');
    if (isPage && !guard.open && !readBearer(guard.tokens, request).ok && auth.viewer(request) === null)
      return toLogin(request, reply);
    return refuseUnknown({ ...guard, servedAt }, request, reply);
  });
  if (config.server.podName !== '')
    app.addHook('onSend', (request, reply, _payload, done) => {
      if (request.routeOptions.url === '/definitions') reply.header('x-signalbox-pod', config.server.podName);
      done();
    });
  app.addHook('preClose', (done) => {
    for (const stream of streams.open.keys()) stream.end();
    // A connection that never sends its request would delay the shutdown by a minute.
    setTimeout(() => app.server.closeAllConnections(), DRAIN_MS).unref();
    done();
  });
  for (const route of routes) addRoute(app, route, { guard, auth });
  const { pages } = deps;
  if (pages) {
    await app.register((scope) => uiScope(scope, auth, (ui) => pages(ui, auth, describe)));
  }
  return app;
}

function createApp(
  { tls, maxBodyBytes, forwardedAllowIps }: Config['server'],
  { log, accessLog }: ServerDeps,
): FastifyInstance {
  const quiet = log.child({}, { level: 'warn' });
  const app = fastify({
    serverFactory: (listener) => fairServer(listener, { tls: tls && tlsOptions(tls) }),
    bodyLimit: maxBodyBytes,
    // Address, host and protocol come from a trusted proxy, otherwise from the connection.
    trustProxy: forwardedAllowIps.includes('*') || forwardedAllowIps,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: false },
    genReqId: requestIds(),
    loggerInstance: quiet,
    childLoggerFactory: () => quiet,
    logController: new LogController({ disableRequestLogging: true }),
    clientErrorHandler: clientErrorHandler(),
    // Fastify's own compilers are not needed, so they are not loaded.
    schemaController: {
      compilersFactory: { buildValidator: () => readPart as never, buildSerializer: () => writeAnswer as never },
    },
    frameworkErrors: (error, request, reply) => {
      // Below /ui people get the page of unknown addresses.
      if (request.raw.url?.startsWith('/ui/')) void reply.redirect('/ui/unknown', 303);
      else void sendError(error, request, reply);
    },
  }) as unknown as FastifyInstance;
  const sendError = errorSender(log);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, readJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.decorateRequest('caller');
  app.decorateRequest('held');
  app.addHook('onSend', (request, _reply, _payload, done) => {
    request.held?.sent();
    done();
  });
  app.setErrorHandler(sendError);
  if (accessLog) app.addHook('onResponse', accessWriter(accessLog));
  return app;
}

function createGuard(config: AuthConfig, deps: ServerDeps): GuardDeps {
  return {
    tokens: createTokenTable(config.tokens),
    open: config.allowUnauthenticated,
    countFailure: deps.countAuthFailure,
  };
}

/** A browser opened `/`; programs do not accept HTML. */
const isPersonAtTheDoor = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && url === '/' && headers.accept?.includes('text/html') === true;

/** Pages, but not their styles and scripts, which are public. */
const mayHaveSession = ({ url }: FastifyRequest): boolean => url.startsWith('/ui') && !url.startsWith('/ui/assets/');

function createAuth(
  config: AuthConfig,
  guard: GuardDeps,
  { now, endedSessions }: Pick<ServerDeps, 'now' | 'endedSessions'>,
): PageAuth {
  const sessions = createSessions({ tokens: guard.tokens, secret: config.sessionSecret, now });
  return createPageAuth({ ...guard, sessions, endedSessions, config });
}

/** A route under `/ui` takes a session too, and answers 401 instead of a redirect; every other one takes bearer only. */
function addRoute(app: FastifyInstance, route: Route, { guard, auth }: { guard: GuardDeps; auth: PageAuth }): void {
  const isPage = route.url.startsWith('/ui/');
  app.route({
    method: route.method,
    url: route.url,
    schema: schemaOf(route),
    exposeHeadRoute: route.method === 'GET' && !isPage,
    onRequest: [isPage ? sessionGuard(auth, route) : bearerGuard(guard, route.role), forCaller],
    ...(route.unreadable && { onError: unreadableTo(route.unreadable) }),
    handler: (request, reply) => {
      reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
      return route.handle(request, reply);
    },
  });
}

/** Errors of the framework about a body start so. */
const BODY_ERROR = 'FST_ERR_CTP';

const unreadableTo =
  (tell: NonNullable<Route['unreadable']>): onErrorHookHandler =>
  (request, _reply, error, done) => {
    const { code } = error as { code?: string };
    const isBody = error instanceof UnreadableBody || code?.startsWith(BODY_ERROR) === true;
    if (isBody && request.caller !== undefined) tell(request, toAnswer(error));
    done();
  };

function sessionGuard(auth: PageAuth, { role }: Route) {
  return async (request: FastifyRequest) => {
    request.caller = auth.admit(request, role);
  };
}

function errorSender(log: Logger) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { status, body, ours, retryAfterSeconds } = toAnswer(error);
    if (ours)
      log.error(
        { err: error, request_id: request.id, method: request.method, route: request.routeOptions.url },
        'request failed',
      );
    if (status === 401) reply.header('www-authenticate', 'Bearer');
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return reply.code(status).header('x-request-id', request.id).header('x-content-type-options', 'nosniff').send(body);
  };
}

/** Cheap and unique enough to find a line in the log: a prefix per process and a count. */
function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** The path without its query, which may contain secrets. */
function accessWriter(log: Logger) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        remote: request.ip,
        actor: (request.caller as Caller | undefined)?.name,
        request_id: request.id,
      },
      'request',
    );
    done();
  };
}
