import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage } from '../page.ts';
import type { RunLine } from '../../../service/views/run.ts';
import { schedulesView } from './view.ts';

/** `/ui/schedules`: one query per schedule, for its last run. */
export function registerSchedules(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  app.get('/ui/schedules', async (request, reply) => {
    const schedules = await deps.schedules();
    const last = new Map<string, RunLine>();
    for (const { pipeline } of schedules) {
      const { runs } = await deps.runs.list({ pipeline, limit: 1, offset: 0 });
      if (runs[0] !== undefined) last.set(pipeline, runs[0]);
    }
    const model = schedulesView({ schedules, last, now: deps.now(), currency: deps.currency });
    return sendPage(context, request, reply, { title: 'Schedules', nav: 'schedules', template: 'schedules', model });
  });
}
