import type { FastifyInstance } from 'fastify';
import type { Actor } from '../../../../service/actor.ts';
import { BulkAction, MAX_RUNS } from '../../../../service/bulk/bulk.ts';
import { operatorOf } from '../../operator.ts';
import { type PageContext, sendPage, sendProblem } from '../../page.ts';
import type { PageDeps } from '../../page-deps.ts';
import { paths, safeReturn } from '../../paths.ts';
import { unlessUnknown } from '../../problems.ts';
import { OUTCOMES } from '../../run/step/mark.ts';
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

/** The list that the runs were chosen in. */
const backOf = ({ next }: Form): string => (next === undefined ? paths.runs() : safeReturn(next));

/** Gives each run the mark that it had before, and none to those that had none. */
async function undoMarks({ bulk, feedback }: PageDeps, form: Form, by: Actor): Promise<void> {
  for (const { value: outcome } of OUTCOMES) {
    const before = BulkAction.safeParse({ action: 'mark', run_ids: [form[outcome] ?? []].flat(), outcome });
    if (before.success) await bulk(before.data, by);
  }
  // A mark that was withdrawn meanwhile is not there, which is what was asked.
  for (const id of chosenIn(form).slice(0, MAX_RUNS)) await feedback.withdrawRunMark(id, by).catch(unlessUnknown);
}

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
    const asked = {
      action,
      runs: await deps.runs.named(ids),
      now: deps.now(),
      currency: deps.currency,
      back: backOf(form),
    };
    if (form['confirmed'] === undefined) {
      const model = bulkView(asked);
      return sendPage(context, request, reply, { title: model.title, nav: 'runs', template: 'bulk', model });
    }
    const body = BulkAction.safeParse({ action, run_ids: ids, ...filledIn(form) });
    if (!body.success) return sendProblem(context, request, reply, CHOOSE);
    const results = await deps.bulk(body.data, by);
    const model = doneView(results, { ...asked, runs: await deps.runs.named(ids) }, asked.runs);
    return sendPage(context, request, reply, { title: model.title, nav: 'runs', template: 'bulk', model });
  });

  app.post('/ui/runs/bulk/undo', async (request, reply) => {
    const form = (request.body ?? {}) as Form;
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    await undoMarks(deps, form, by);
    return reply.redirect(backOf(form), 303);
  });
}
