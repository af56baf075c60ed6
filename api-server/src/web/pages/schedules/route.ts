import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import { pageIn } from '../portion.ts';
import { schedulesOn, schedulesView } from './view.ts';

/** `/ui/schedules`: the last runs of the schedules of one page are read together. */
export function registerSchedules(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/schedules', async (request, reply) => {
    const schedules = await deps.schedules();
    const page = pageIn(request.query);
    const last = await deps.runs.newest(schedulesOn(schedules, page).rows.map(({ pipeline }) => pipeline));
    const model = schedulesView({ schedules, page, last, now: deps.now() });
    return sendPage(context, request, reply, { title: 'Schedules', nav: 'schedules', template: 'schedules', model });
  });
}
