import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '@signalbox/crds';
import { count } from '../format.ts';
import { pageOf, pager } from '../list-filters.ts';
import { operatorOf } from '../operator.ts';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { unlessUnknown } from '../problems.ts';
import { paths, safeReturn } from '../paths.ts';
import type { ApprovalLine } from '../../../service/views/approval.ts';
import type { RunLine } from '../../../service/views/run.ts';
import { approvalCard } from './card.ts';
import { readDecision } from './form.ts';
import { createRoom, leanOf } from './room.ts';

const NO_APPROVAL = {
  status: 404,
  title: 'There is no such approval',
  text: 'The address may be mistyped, or its run is older than what this service keeps.',
  action: { href: paths.approvals(), label: 'All approvals' },
};
const NO_DECISION = { status: 400, title: 'This is no decision', text: 'A decision is approve or reject.' };

const WAITING_SHOWN = 50;
const ENDED_SHOWN = 50;
const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id;

/** `/ui/approvals`, the page of one, and the form that decides it (Orchestration 5). */
export function registerApprovals(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/approvals', async (request, reply) => {
    const page = pageOf((request.query as Record<string, unknown>)['page']);
    const { cards, total } = await readWaiting(context, request, page);
    // Those that wait come first.
    const ofEnded = { limit: ENDED_SHOWN, offset: total };
    const { approvals: ended } =
      page === 1 || cards.length === 0 ? await deps.approvals.list(ofEnded) : { approvals: [] };
    const card = cardFor(context, request);
    const model = {
      total,
      many: total !== 1,
      waiting: cards.map((one) => ({ ...one, open: total === 1 })),
      pager: pagerOf(page, cards.length, total),
      ended: ended.map((one) => card(leanOf(one))),
    };
    return sendPage(context, request, reply, { title: 'Approvals', nav: 'approvals', template: 'approvals', model });
  });

  app.get('/ui/approvals/:id', async (request, reply) => {
    const approval = await deps.approvals.get(idOf(request)).catch(unlessUnknown);
    if (approval === null) return sendProblem(context, request, reply, NO_APPROVAL);
    return sendOne(context, request, reply, { approval });
  });

  app.post('/ui/approvals/:id', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const approval = await deps.approvals.get(idOf(request)).catch(unlessUnknown);
    if (approval === null) return sendProblem(context, request, reply, NO_APPROVAL);
    const form = (request.body ?? {}) as Record<string, unknown>;
    const posted = readDecision(form, approval.fields);
    if (posted === null) return sendProblem(context, request, reply, NO_DECISION);
    const { entered, ...verdict } = posted;
    try {
      await deps.approvals.decide(approval.id, verdict, by);
      return await reply.redirect(safeReturn(form['next']), 303);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.type === 'forbidden') return sendProblem(context, request, reply, notYours(error.message));
      if (error.type === 'conflict') return sendProblem(context, request, reply, tooLate(approval, error.message));
      if (error.type !== 'validation') throw error;
      return sendOne(context, request, reply, { approval, refused: { entered, problems: problemsOf(error) } });
    }
  });
}

/** The form fields that were refused. */
const problemsOf = ({ extra }: AppError): { field: string; msg: string }[] =>
  (extra['errors'] as { loc: string[]; msg: string }[]).map(({ loc, msg }) => ({ field: loc[2] ?? '', msg }));

interface Shown {
  approval: ApprovalLine;
  /** What was entered and why it was refused. */
  refused?: { entered: Record<string, string>; problems: { field: string; msg: string }[] };
}

/** The runs that ask, by their ids. */
async function runsOf({ deps }: PageContext, approvals: readonly ApprovalLine[]): Promise<Map<string, RunLine>> {
  const runs = await deps.runs.named([...new Set(approvals.map((one) => one.run_id))]);
  return new Map(runs.map((run) => [run.id, run]));
}

/**
 * One page of those that wait, the next one to expire first. Reads on where long questions end a page of the list; after each of them
 * other work has its turn.
 */
async function readWaiting(context: PageContext, request: FastifyRequest, page: number) {
  const room = createRoom();
  const card = cardFor(context, request);
  const cards: ReturnType<typeof room>[] = [];
  const first = (page - 1) * WAITING_SHOWN;
  for (;;) {
    const left = { limit: WAITING_SHOWN - cards.length, offset: first + cards.length };
    const { approvals, total } = await context.deps.approvals.list({ status: 'pending', ...left });
    const runs = await runsOf(context, approvals);
    for (const one of approvals) {
      cards.push(room(one, (it) => card(it, { run: runs.get(it.run_id) })));
      await setImmediate();
    }
    if (approvals.length === 0 || cards.length >= Math.min(total - first, WAITING_SHOWN)) return { cards, total };
  }
}

function pagerOf(page: number, shown: number, total: number) {
  if (total <= WAITING_SHOWN && page === 1) return null;
  const offset = (page - 1) * WAITING_SHOWN;
  const around = { page, offset, shown, total: count(total), more: offset + shown < total };
  return pager(around, (to) => paths.approvals({ page: to > 1 ? to : null }));
}

/** The page of one approval: all that is asked, whatever its size. */
async function sendOne(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { approval, refused }: Shown,
): Promise<FastifyReply> {
  const runs = await runsOf(context, [approval]);
  const card = cardFor(context, request)(approval, {
    run: runs.get(approval.run_id),
    ...(refused && {
      entered: refused.entered,
      problems: new Map(refused.problems.map(({ field, msg }) => [field, msg])),
    }),
  });
  return sendPage(context, request, reply, {
    title: 'Approval',
    nav: 'approvals',
    template: 'approval',
    model: { approvals: [card], all: paths.approvals(), refused: refused !== undefined },
    status: refused === undefined ? 200 : 400,
  });
}

const notYours = (message: string) => ({
  status: 403,
  title: 'This is not yours to decide',
  text: `${message.slice(0, 1).toUpperCase()}${message.slice(1)}. Your decision was not stored.`,
  action: { href: paths.approvals(), label: 'All approvals' },
});

const tooLate = (approval: ApprovalLine, message: string) => ({
  status: 409,
  title: 'This was decided without you',
  text: `${message.slice(0, 1).toUpperCase()}${message.slice(1)}. Your decision was not stored.`,
  action: { href: paths.run(approval.run_id, { step: approval.step_name }), label: 'To the run' },
});

type More = Partial<Pick<Parameters<typeof approvalCard>[1], 'entered' | 'problems' | 'run'>>;

function cardFor({ deps }: PageContext, request: FastifyRequest) {
  const viewer = deps.auth.viewer(request);
  const name = viewer?.name ?? null;
  const shared = {
    now: deps.now(),
    operator: mayOperate(viewer),
    name,
    csrf: viewer?.csrf ?? '',
    next: paths.approvals(),
  };
  return (approval: ApprovalLine, more: More = {}) => approvalCard(approval, { ...shared, ...more });
}
