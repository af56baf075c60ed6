import { fileURLToPath } from 'node:url';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { registerAgents } from './agents/route.ts';
import { registerApi } from './api/route.ts';
import { registerApprovals } from './approvals/route.ts';
import { loadAssets } from './assets.ts';
import { registerAudit } from './audit/route.ts';
import { registerCompare } from './compare/route.ts';
import { registerDefinitions } from './definitions/route.ts';
import { registerDeliveries } from './deliveries/route.ts';
import { registerExports } from './exports/route.ts';
import { duration } from './format.ts';
import { registerGoto } from './goto/route.ts';
import { registerGoldenSets } from './golden-sets/route.ts';
import { registerInsights } from './insights/route.ts';
import { registerOverview } from './overview/route.ts';
import { registerMarking } from './marking/route.ts';
import { AppError } from '@signalbox/crds';
import { type PageContext, sendProblem } from './page.ts';
import { problemOf } from './problems.ts';
import type { PageDeps } from './page-deps.ts';
import { paths } from './paths.ts';
import { createRender } from './render.ts';
import { registerReplays } from './replays/route.ts';
import { registerRun } from './run/route.ts';
import { registerRuns } from './runs/route.ts';
import { registerSchedules } from './schedules/route.ts';
import { registerSession } from './session/route.ts';
import { registerSteps } from './steps/route.ts';
import { registerSync } from './sync/route.ts';
import { registerTeams } from './teams/route.ts';
import { registerTools } from './tools/route.ts';

export type { PageDeps } from './page-deps.ts';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const OPEN = new Set(['/ui/login', '/ui/login/']);
const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';
const TEMPLATES = fileURLToPath(new URL('./', import.meta.url));

const NO_PAGE = {
  status: 404,
  title: 'There is no such page',
  text: 'The address may be mistyped, or the page moved.',
};

/** Every page except login needs a session; without one it redirects to login, and back after it (Orchestration 5, rule 7). */
function requireViewer(context: PageContext) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const isPage = pathOf(request).startsWith('/ui');
    if (!isPage || OPEN.has(pathOf(request)) || context.deps.auth.viewer(request) !== null) return;
    return reply.redirect(paths.login(request.method === 'GET' ? request.url : undefined), 303);
  };
}

const waitFor = (seconds: number) => ({
  status: 429,
  title: 'Too many failed logins',
  text: `Too many logins with an invalid token came from your address. Try again in ${duration(seconds)}.`,
  action: { href: paths.login(), label: 'Back to the login page' },
});

function sendError(context: PageContext) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const wait = Number(reply.getHeader('retry-after'));
    if (wait > 0) return sendProblem(context, request, reply, waitFor(wait));
    if (error instanceof AppError && error.type !== 'internal')
      return sendProblem(context, request, reply, problemOf(error));
    const status = error.statusCode ?? 500;
    if (status < 500)
      return sendProblem(context, request, reply, {
        status,
        title: 'This request cannot be answered',
        text: error.message,
      });
    request.log.error({ err: error }, 'page failed');
    const text = `The service could not build this page. Try again; if it fails again, look for "page failed" with the request id ${request.id} in the log of the api-server.`;
    return sendProblem(context, request, reply, { status: 500, title: 'This page failed', text });
  };
}

/** Registers all pages under `/ui/`. The live stream of a run is in `web/routes`. */
export async function registerPages(app: FastifyInstance, deps: PageDeps): Promise<void> {
  const assets = loadAssets();
  const context: PageContext = { deps, assets, render: createRender(TEMPLATES) };
  await app.register(async (pages) => {
    pages.addHook('onRequest', async (_request, reply) => {
      reply
        .header('content-security-policy', CONTENT_SECURITY_POLICY)
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'same-origin');
    });
    assets.register(pages);
    await pages.register(async (guarded) => {
      guarded.addHook('onRequest', requireViewer(context));
      guarded.setErrorHandler(sendError(context));
      registerSession(guarded, context);
      registerOverview(guarded, context);
      registerRuns(guarded, context);
      registerRun(guarded, context);
      registerCompare(guarded, context);
      registerApprovals(guarded, context);
      registerDeliveries(guarded, context);
      registerExports(guarded, context);
      registerDefinitions(guarded, context);
      registerMarking(guarded, context);
      registerInsights(guarded, context);
      registerTeams(guarded, context);
      registerReplays(guarded, context);
      registerGoldenSets(guarded, context);
      registerSteps(guarded, context);
      registerAgents(guarded, context);
      registerAudit(guarded, context);
      registerSchedules(guarded, context);
      registerTools(guarded, context);
      registerSync(guarded, context);
      registerApi(guarded, context);
      registerGoto(guarded, context);
      guarded.get('/ui/*', (request, reply) => sendProblem(context, request, reply, NO_PAGE));
    });
  });
}
