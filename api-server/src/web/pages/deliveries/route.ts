import type { FastifyInstance } from 'fastify';
import { AppError } from '@signalbox/crds';
import { KeptId } from '../../../service/deliveries/kept.ts';
import { operatorOf } from '../operator.ts';
import { ignoredIn } from '../list-filters.ts';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { problemOf, unlessUnknown } from '../problems.ts';
import { firstRunFor } from '../runs/route.ts';
import { readFilters, toKeptQuery } from './filters.ts';
import { deliveriesView, deliveryView } from './view.ts';

const NO_DELIVERY = {
  status: 404,
  title: 'There is no such delivery',
  text: 'The address may be mistyped, or the delivery is older than retention.deliveries_days.',
  action: { href: paths.deliveries(), label: 'All deliveries' },
};

/** `/ui/deliveries`: what was delivered to the webhook, and what became of it. */
export function registerDeliveries(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;
  const find = async (id: string) => {
    const parsed = await Promise.resolve(id)
      .then((text) => KeptId.parse(text))
      .catch(unlessUnknown);
    return parsed === null ? null : deps.keptDeliveries.get(parsed).catch(unlessUnknown);
  };

  app.get('/ui/deliveries', async (request, reply) => {
    const filters = readFilters(request.query as Record<string, unknown>);
    const page = await deps.keptDeliveries.list(toKeptQuery(filters), request.signal);
    const { deliveries, next_cursor: nextCursor, looked_back_to: lookedBackTo } = page;
    const first = firstRunFor(request, deps.definitions.snapshot().pipelines);
    const model = deliveriesView({ deliveries, nextCursor, lookedBackTo, filters, now: deps.now(), first });
    const ignored = ignoredIn(request.query as object, filters);
    const shown = { title: 'Deliveries', nav: 'deliveries', template: 'deliveries', model, ignored } as const;
    return sendPage(context, request, reply, shown);
  });

  app.get('/ui/deliveries/:id', async (request, reply) => {
    const delivery = await find((request.params as { id: string }).id);
    if (delivery === null) return sendProblem(context, request, reply, NO_DELIVERY);
    const model = deliveryView({ delivery, operator: mayOperate(deps.auth.viewer(request)) });
    return sendPage(context, request, reply, { title: model.title, nav: 'deliveries', template: 'delivery', model });
  });

  app.post('/ui/deliveries/:id/redeliver', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const delivery = await find((request.params as { id: string }).id);
    if (delivery === null) return sendProblem(context, request, reply, NO_DELIVERY);
    try {
      const result = await deps.keptDeliveries.redeliver(delivery.id, by);
      const started = result.kind === 'taken' && 'run_id' in result.body ? result.body.run_id : null;
      return await reply.redirect(started === null ? paths.deliveries() : paths.run(started), 303);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const action = { href: paths.delivery(delivery.id), label: 'Back to the delivery' };
      return sendProblem(context, request, reply, { ...problemOf(error), action });
    }
  });
}
