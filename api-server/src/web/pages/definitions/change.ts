import { AppError } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { adminOf } from '../operator.ts';
import { type PageContext, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { problemOf } from '../problems.ts';

/** The forms that suspend and resume a pipeline, and that reload all definitions. */
export function registerChanges(app: FastifyInstance, context: PageContext): void {
  const { definitions, definitionWrites } = context.deps;

  for (const change of ['suspend', 'resume'] as const)
    app.post(`/ui/pipelines/:name/${change}`, async (request, reply) => {
      const by = await adminOf(context, request, reply);
      if (by === null) return reply;
      const { name } = request.params as { name: string };
      try {
        await definitionWrites.suspend(name, change === 'suspend', by);
        return await reply.redirect(paths.pipeline(name), 303);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const action = { href: paths.pipeline(name), label: 'Back to the pipeline' };
        return sendProblem(context, request, reply, { ...problemOf(error), action });
      }
    });

  app.post('/ui/reload', async (request, reply) => {
    const by = await adminOf(context, request, reply);
    if (by === null) return reply;
    try {
      await definitions.reload(by);
      return await reply.redirect(paths.pipelines(), 303);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const action = { href: paths.pipelines(), label: 'Back to the pipelines' };
      return sendProblem(context, request, reply, { ...problemOf(error), action });
    }
  });
}
