import type { FastifyInstance } from 'fastify';
import { unlessBusy } from '../insights/summary.ts';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { pageIn } from '../portion.ts';
import { teamsView } from './view.ts';

const BUSY = {
  status: 503,
  title: 'The statistics take too long at the moment',
  text: 'The server is busy, or the history is long. Try again in a moment.',
};

/** `/ui/teams`: what each team used of its budget this month, as `GET /teams` says it. */
export function registerTeams(app: FastifyInstance, context: PageContext): void {
  app.get('/ui/teams', async (request, reply) => {
    const use = await unlessBusy(context.deps.statistics.teams(request.signal));
    if (use === null) return sendProblem(context, request, reply, BUSY);
    const model = teamsView(use, context.deps.now(), pageIn(request.query));
    return sendPage(context, request, reply, { title: 'Teams', nav: 'teams', template: 'teams', model });
  });
}
