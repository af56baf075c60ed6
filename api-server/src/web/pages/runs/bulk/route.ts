import type { FastifyInstance } from 'fastify';
import { BulkAction, MAX_RUNS } from '../../../../service/bulk/bulk.ts';
import { operatorOf } from '../../operator.ts';
import { type PageContext, sendPage, sendProblem } from '../../page.ts';
import { paths } from '../../paths.ts';
import { bulkView, doneView, isAction } from './view.ts';

const CHOOSE = {
  status: 400,
  title: 'Choose some runs',
  text: `Tick between 1 and ${MAX_RUNS} runs in the list, then choose what to do with them.`,
  action: { href: paths.runs(), label: 'All runs' },
};

type Form = Record<string, unknown>;

const chosenIn = ({ run }: Form): string[] => [...new Set([run].flat().filter((id) => typeof id === 'string'))];

/** Body keys of the action, as filled in; an empty field is left out. */
const filledIn = (form: Form): Form =>
  Object.fromEntries(
    ['assignee', 'note', 'resolution', 'outcome'].flatMap((key) => {
      const value = form[key];
      return typeof value === 'string' && value.trim() !== '' ? [[key, value.trim()]] : [];
    }),
  );

/** What the list does with the runs that were ticked: first what will happen, then what became of each. */
export function registerBulk(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.post('/ui/runs/bulk', async (request, reply) => {
    const form = (request.body ?? {}) as Form;
    const ids = chosenIn(form);
    const { action } = form;
    // Only reads, so anybody may.
    if (action === 'compare') return reply.redirect(paths.compareChosen(ids), 303);
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    if (!isAction(action) || ids.length === 0 || ids.length > MAX_RUNS)
      return sendProblem(context, request, reply, CHOOSE);
    const asked = { action, runs: await deps.runs.named(ids), now: deps.now(), currency: deps.currency };
    if (form['confirmed'] === undefined) {
      const model = bulkView(asked);
      return sendPage(context, request, reply, { title: model.title, nav: 'runs', template: 'bulk', model });
    }
    const body = BulkAction.safeParse({ action, run_ids: ids, ...filledIn(form) });
    if (!body.success) return sendProblem(context, request, reply, CHOOSE);
    const results = await deps.bulk(body.data, by);
    const model = doneView(results, { ...asked, runs: await deps.runs.named(ids) });
    return sendPage(context, request, reply, { title: model.title, nav: 'runs', template: 'bulk', model });
  });
}
