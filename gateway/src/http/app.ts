import type { IncomingMessage } from 'node:http';
import { errorBody } from '@signalbox/crds';
import { clientErrorHandler } from '@signalbox/crds/process/client-error';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { fairServer } from '@signalbox/crds/process/fair-connections';
import type { z } from 'zod';
import { type AccessDeps, authorize, requireScope } from './access.ts';
import { BODY_LIMIT, createErrorHandler, invalid, invalidBody, type OnBug } from './errors.ts';
import { describeRoutes } from './openapi.ts';
import { readJson } from './read-json.ts';
import type { tlsOptions } from './tls.ts';

/** Routes declare their parameters, body and answers as zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export interface AppDeps extends AccessDeps {
  routes: readonly ((app: App) => void)[];
  version: string;
  /** Empty where it is not known. */
  podName?: string;
  tls: ReturnType<typeof tlsOptions> | null;
  onBug: OnBug;
}

/** Of the first line of a request; a longer name belongs to no agent. */
const MAX_ADDRESS_CHARS = 16 * 1024;

/** Clients that offer another protocol (HTTP/2 above all) are answered in HTTP/1.1. */
const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket';

/** The REST side of the service: every route behind its scope, every error in one envelope (Gateway 4, 5, 7). */
export function createApp(deps: AppDeps): App {
  const sendError = createErrorHandler(deps.onBug);
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    // Called before any hook: an address that cannot be decoded belongs to no route.
    frameworkErrors: (_: Error, request: FastifyRequest, reply: FastifyReply) =>
      void sendError(addressError(request, deps), request, reply),
    clientErrorHandler: clientErrorHandler((_type, message) => invalidBody(message)),
    routerOptions: { maxParamLength: MAX_ADDRESS_CHARS },
    serverFactory: (listener) => fairServer(listener, { tls: deps.tls, shouldUpgradeCallback }),
  });
  readJson(app);
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (data) => {
    const parsed = schema.safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: parsed.error };
  });
  // Answers are sent as they are: their types are checked by the compiler, their values in tests.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  // Before the body is read.
  app.addHook('onRequest', async (request) => authorize(request, deps));
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined && request.routeOptions.schema?.body) request.body = {};
  });
  const { podName = '' } = deps;
  if (podName !== '')
    app.addHook('onSend', async (request, reply) => {
      if (request.routeOptions.url === '/agents') reply.header('x-signalbox-pod', podName);
    });
  describeRoutes(app, deps.version);
  void app.register(async (scope) => {
    for (const addRoutes of deps.routes) addRoutes(scope.withTypeProvider<ZodTypeProvider>());
  });
  app.setNotFoundHandler(({ url }, reply) => {
    const message = /^\/rpc(?:\?|$)/.test(url)
      ? '/rpc accepts WebSocket connections only'
      : 'there is no such route; GET /openapi.json lists all routes';
    return reply.code(404).send(errorBody('not_found', message));
  });
  app.setErrorHandler(sendError);
  return app.withTypeProvider<ZodTypeProvider>();
}

function addressError(request: FastifyRequest, deps: AppDeps): unknown {
  try {
    requireScope(request, 'invoke', deps);
    return invalid('the address cannot be decoded');
  } catch (error) {
    return error;
  }
}
