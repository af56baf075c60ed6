import type { IncomingMessage } from 'node:http';
import { AppError, errorBody, ERROR_STATUS, plainIssues } from '@signalbox/crds';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticate, grants, type Scope } from '../identity/authenticate.ts';
import { answerClientError } from './client-error.ts';
import { openApi } from './openapi.ts';
import { type Route, route, type RouteScope } from './route.ts';
import { z } from 'zod';

export interface AppDeps {
  routes: readonly Route[];
  authenticate: Authenticate;
  metricsAuth: boolean;
  version: string;
  tls: { cert: Buffer; key: Buffer } | null;
  onAuthFailure: (reason: string) => void;
  onBug: (error: unknown, request: { method: string; route: string }) => void;
}

/** Of the first line of a request; a name that is too long is a name that is not there. */
const MAX_ADDRESS_CHARS = 16 * 1024;
const BODY_LIMIT = 2 * 1024 * 1024;
/** Of a wrong value that is shown again. */
const MAX_VALUE_CHARS = 200;
const MAX_PROBLEMS = 20;
const NO_JSON = 'the body must be JSON (content-type application/json)';

/** Clients that offer another protocol (HTTP/2 above all) are answered as if they did not. */
const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket';

/** The REST side of the service: every route of the table behind its scope, every error in one envelope (Gateway 4, 5, 7). */
export function createApp(deps: AppDeps): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: 60_000,
    forceCloseConnections: true,
    // Before any hook: an address that cannot be decoded belongs to no route.
    frameworkErrors: (_: Error, request: FastifyRequest, reply: FastifyReply) =>
      void sendError(addressError(request, deps), request, reply, deps),
    clientErrorHandler: answerClientError,
    routerOptions: { maxParamLength: MAX_ADDRESS_CHARS },
    [deps.tls ? 'https' : 'http']: { ...deps.tls, shouldUpgradeCallback },
  } as { bodyLimit: number });
  readJson(app);
  // Whoever has no token does not learn which routes there are, nor has a body read.
  app.addHook('onRequest', async ({ is404, headers }) => {
    if (is404) authorize(headers.authorization, 'invoke', deps);
  });
  for (const one of allRoutes(deps)) addRoute(app, one, deps);
  app.setNotFoundHandler(({ url }, reply) => {
    const message = /^\/rpc(?:\?|$)/.test(url)
      ? '/rpc takes WebSocket connections only'
      : 'there is no such route; GET /openapi.json lists all';
    return reply.code(404).send(errorBody('not_found', message));
  });
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, deps));
  return app;
}

/** JSON alone is read. Many clients name a type with everything, so no body is none whatever they name. */
function readJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    void parse(request, String(body), (error, value) =>
      error ? done(invalid([problem({ message: whyNoJson(String(body)) })])) : done(null, value),
    );
  });
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => {
    if (body.length === 0) done(null, undefined);
    else done(invalid([problem({ message: NO_JSON })]));
  });
}

/** Of a body that the parser refused. */
function whyNoJson(body: string): string {
  try {
    JSON.parse(body);
    return 'the body has a key that is not taken: __proto__ or constructor.prototype';
  } catch (error) {
    return `the body is no JSON: ${error instanceof Error ? error.message.slice(0, MAX_VALUE_CHARS) : ''}`;
  }
}

function addressError({ headers }: FastifyRequest, deps: AppDeps): unknown {
  try {
    authorize(headers.authorization, 'invoke', deps);
    return invalid([problem({ message: 'the address cannot be decoded' })]);
  } catch (error) {
    return error;
  }
}

/** The table with the document that describes it. */
export function allRoutes({ routes, version }: Pick<AppDeps, 'routes' | 'version'>): Route[] {
  let document: Record<string, unknown> | null = null;
  const documented: Route[] = [
    ...routes,
    route({
      method: 'GET',
      path: '/openapi.json',
      scope: 'invoke',
      summary: 'This document',
      response: z.record(z.string(), z.unknown()),
      handle: () => ({ json: (document ??= openApi(documented, version)) }),
    }),
  ];
  return documented;
}

function addRoute(app: FastifyInstance, one: Route, deps: AppDeps): void {
  app.route({
    method: one.method,
    url: one.path.replace(/\{(\w+)\}/g, ':$1'),
    onRequest: async (request) =>
      authorize(request.headers.authorization, neededScope(one.scope, deps.metricsAuth), deps),
    handler: async (request, reply) => {
      const params = request.params as Record<string, string>;
      const body = one.body ? parseBody(one.body, request.body, params['name']) : null;
      const answer = await one.handle({ params, body });
      if ('json' in answer) return reply.send(answer.json);
      return reply.type(answer.contentType).send(answer.text);
    },
  });
}

function neededScope(scope: RouteScope, metricsAuth: boolean): Scope | null {
  if (scope === 'open') return null;
  if (scope === 'metrics') return metricsAuth ? 'invoke' : null;
  return scope;
}

function authorize(authorization: string | undefined, needed: Scope | null, deps: AppDeps): void {
  if (needed === null) return;
  const who = deps.authenticate(authorization);
  if (!who.ok) {
    deps.onAuthFailure(who.reason);
    throw new AppError(
      'unauthorized',
      who.reason === 'missing' ? 'a bearer token is required' : 'the token is invalid',
    );
  }
  if (grants(who.token, needed)) return;
  deps.onAuthFailure('scope');
  throw new AppError('forbidden', `the ${who.token} token lacks the scope ${needed}`);
}

function parseBody(schema: z.ZodType, body: unknown, agent = agentOf(body)): unknown {
  const parsed = schema.safeParse(body === undefined ? {} : body);
  if (parsed.success) return parsed.data;
  const errors = plainIssues(parsed.error.issues)
    .slice(0, MAX_PROBLEMS)
    .map(({ path, msg, unknownKey }) =>
      problem({
        agent,
        field: path.map(String).join('.').slice(0, MAX_VALUE_CHARS),
        value: unknownKey ? null : scalarAt(body, path),
        message: msg,
      }),
    );
  throw invalid(errors, `${errors[0]?.field || 'body'}: ${errors[0]?.message ?? 'not valid'}`);
}

/** One validation error item (Gateway 2). */
const problem = (about: { message: string; agent?: string; field?: string; value?: Scalar }) => ({
  agent: '',
  field: '',
  value: null,
  ...about,
  severity: 'error' as const,
});

const invalid = (errors: ReturnType<typeof problem>[], message = errors[0]?.message ?? 'not valid') =>
  new AppError('validation', message, { extra: { errors } });

/** The name in a body that wants to be an agent, as far as there is one. */
function agentOf(body: unknown): string {
  const name = scalarAt(body, ['name']);
  return typeof name === 'string' ? name : '';
}

type Scalar = string | number | boolean | null;

function scalarAt(body: unknown, path: readonly PropertyKey[]): Scalar {
  let at = body;
  for (const key of path)
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : null;
  if (typeof at === 'string') return at.slice(0, MAX_VALUE_CHARS);
  return typeof at === 'number' || typeof at === 'boolean' ? at : null;
}

async function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, deps: AppDeps): Promise<void> {
  if (error instanceof AppError) {
    if (error.type === 'unauthorized') reply.header('www-authenticate', 'Bearer');
    await reply.code(ERROR_STATUS[error.type]).send(errorBody(error.type, error.message, error.extra));
    return;
  }
  const status = statusOf(error);
  if (status >= 400 && status < 500) {
    const message = status === 413 ? `the body is larger than ${BODY_LIMIT} bytes` : NO_JSON;
    const errors = [problem({ message })];
    await reply.code(status === 413 ? 413 : 400).send(errorBody('validation', message, { errors }));
    return;
  }
  deps.onBug(error, { method: request.method, route: request.routeOptions.url ?? '' });
  await reply.code(500).send(errorBody('internal', 'the request failed inside the gateway'));
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return Number.isInteger(status) ? status : 500;
}
