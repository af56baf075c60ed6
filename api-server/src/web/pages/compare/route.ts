import { AppError } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { problemOf } from '../problems.ts';
import { compareView } from './view.ts';

const CHOOSE = {
  status: 400,
  title: 'Choose two runs to compare',
  text: 'Tick exactly two runs of one pipeline in the list, then choose Compare.',
  action: { href: paths.runs(), label: 'All runs' },
};

/** `/ui/runs/{a}/compare/{b}`, and where the list of runs sends the two that were ticked. */
export function registerCompare(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/runs/compare', async (request, reply) => {
    const { run } = request.query as Record<string, unknown>;
    // The list has the newest first; the older of the two is A.
    const [b, a, ...others] = [run].flat().filter((id) => typeof id === 'string');
    if (a === undefined || b === undefined || others.length > 0) return sendProblem(context, request, reply, CHOOSE);
    return reply.redirect(paths.compare(a, b), 303);
  });

  app.get('/ui/runs/:a/compare/:b', async (request, reply) => {
    const { a, b } = request.params as { a: string; b: string };
    const query = request.query as Record<string, unknown>;
    const force = query['force'] === 'true';
    try {
      const model = compareView({
        comparison: await deps.runs.compare(a, b, { force }),
        step: typeof query['step'] === 'string' ? query['step'] : null,
        force,
        now: deps.now(),
        currency: deps.currency,
      });
      const title = `Comparison: ${model.title}`;
      return await sendPage(context, request, reply, { title, nav: 'runs', template: 'compare', model });
    } catch (error) {
      if (!(error instanceof AppError) || error.type !== 'conflict') throw error;
      const title = 'These runs are of different pipelines';
      const text = 'Steps are matched by name, so little may fit together.';
      const action = { href: paths.compare(a, b, { force: true }), label: 'Compare them all the same', goesOn: true };
      return sendProblem(context, request, reply, { ...problemOf(error), title, text, action });
    }
  });
}
