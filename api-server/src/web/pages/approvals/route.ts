import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '@signalbox/crds';
import { charsOf } from '../fit-model.ts';
import { operatorOf } from '../operator.ts';
import { mayOperate, type PageContext, sendPage, sendProblem } from '../page.ts';
import { unlessUnknown } from '../problems.ts';
import { paths, safeReturn } from '../paths.ts';
import type { ApprovalLine } from '../../../service/views/approval.ts';
import type { RunLine } from '../../../service/views/run.ts';
import { approvalCard } from './card.ts';
import { readDecision } from './form.ts';

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

/** `/ui/approvals`, and the form that decides one (Orchestration 5). */
export function registerApprovals(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/approvals', async (request, reply) => {
    const waiting = await readWaiting(context);
    // Those that wait come first.
    const { approvals: ended } = await deps.approvals.list({ limit: ENDED_SHOWN, offset: waiting.total });
    const runs = await runsOf(context, waiting.approvals);
    const card = cardFor(context, request);
    const [only] = waiting.approvals.length === 1 ? waiting.approvals : [];
    const model = {
      total: waiting.total,
      many: waiting.total !== 1,
      more: Math.max(0, waiting.total - waiting.approvals.length),
      // The next one to expire first.
      waiting: withRoom(
        waiting.approvals
          .toSorted((a, b) => a.expires_at.localeCompare(b.expires_at))
          .map((one) => ({ ...card(one, { run: runs.get(one.run_id) }), open: one === only, long: one.long })),
      ),
      ended: ended.map((one) => card(one)),
      refused: false,
    };
    return sendPage(context, request, reply, { title: 'Approvals', nav: 'approvals', template: 'approvals', model });
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
      return sendAgain(context, request, reply, { approval, entered, problems: problemsOf(error) });
    }
  });
}

/** The form fields that were refused. */
const problemsOf = ({ extra }: AppError): Refused['problems'] =>
  (extra['errors'] as { loc: string[]; msg: string }[]).map(({ loc, msg }) => ({ field: loc[2] ?? '', msg }));

interface Refused {
  approval: ApprovalLine;
  entered: Record<string, string>;
  problems: { field: string; msg: string }[];
}

/** The runs that ask, by their ids. */
async function runsOf({ deps }: PageContext, approvals: readonly ApprovalLine[]): Promise<Map<string, RunLine>> {
  const runs = await deps.runs.named([...new Set(approvals.map((one) => one.run_id))]);
  return new Map(runs.map((run) => [run.id, run]));
}

/** `long`: it has no room on the page and is decided on that of its run. */
type Waiting = ApprovalLine & { long: boolean };

/** Reads on where long questions end a page of the list, and keeps of one that fits on no page what its line says. */
async function readWaiting({ deps }: PageContext): Promise<{ approvals: Waiting[]; total: number }> {
  const approvals: Waiting[] = [];
  for (;;) {
    const left = { limit: WAITING_SHOWN - approvals.length, offset: approvals.length };
    const { approvals: more, total } = await deps.approvals.list({ status: 'pending', ...left });
    approvals.push(...more.map(leanOf));
    if (more.length === 0 || approvals.length >= Math.min(total, WAITING_SHOWN)) return { approvals, total };
  }
}

/** Characters of the cards that are on the page as a whole, and of the markup of one. */
const ROOM = 100_000;
const MARKUP = 2_500;

function leanOf(one: ApprovalLine): Waiting {
  if (JSON.stringify(one).length <= ROOM) return { ...one, long: false };
  const tool = one.tool && { ...one.tool, input: null };
  return { ...one, question: one.question.slice(0, 2_000), tool, long: true };
}

/** Those that expire first can be decided here, as many as fit on the page; the others on the pages of their runs. */
function withRoom<Card extends { long: boolean }>(cards: readonly Card[]): (Card & { whole: boolean })[] {
  let left = ROOM;
  return cards.map((card, at) => {
    const size = MARKUP + charsOf(card, Infinity);
    const whole = !card.long && (at === 0 || size <= left);
    if (whole) left -= size;
    return { ...card, whole };
  });
}

/** The form with the entered values and the problems. */
async function sendAgain(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: Refused,
): Promise<FastifyReply> {
  const { approval, entered, problems } = refused;
  const runs = await runsOf(context, [approval]);
  const card = cardFor(context, request)(approval, {
    entered,
    run: runs.get(approval.run_id),
    problems: new Map(problems.map(({ field, msg }) => [field, msg])),
  });
  const waiting = [{ ...card, open: true, whole: true }];
  const model = { total: 1, many: false, more: 0, waiting, ended: [], refused: true };
  return sendPage(context, request, reply, {
    title: 'Approvals',
    nav: 'approvals',
    template: 'approvals',
    model,
    status: 400,
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
