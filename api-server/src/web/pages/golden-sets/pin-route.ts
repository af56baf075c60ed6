import { AppError } from '@signalbox/crds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../../service/actor.ts';
import { NewGoldenMember, NewGoldenSet } from '../../../service/golden-sets/golden-sets.ts';
import { operatorOf } from '../operator.ts';
import { mayOperate, type PageContext, sendPage } from '../page.ts';
import { paths } from '../paths.ts';
import { pinView } from './pin-view.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** `/ui/golden-sets/pin`: one execution into a set, from the page of its run. */
export function registerPin(app: FastifyInstance, context: PageContext): void {
  app.get('/ui/golden-sets/pin', (request, reply) => {
    const { run, step } = request.query as Record<string, unknown>;
    return sendForm(context, request, reply, { run: textOf(run), step: textOf(step) });
  });

  app.post('/ui/golden-sets/pin', async (request, reply) => {
    const by = await operatorOf(context, request, reply);
    if (by === null) return reply;
    const form = (request.body ?? {}) as Record<string, unknown>;
    const asked = readForm(form);
    try {
      const set = await pin(context, asked, by);
      return await reply.redirect(paths.goldenSet(set), 303);
    } catch (error) {
      if (!(error instanceof AppError) || error.type === 'not_found') throw error;
      return sendForm(context, request, reply, { ...asked, problem: error.message });
    }
  });
}

interface Asked {
  run: string;
  step: string;
  /** The id of a set; '' for a new one of the name. */
  set: string;
  name: string;
  note: string;
}

const readForm = (form: Record<string, unknown>): Asked => ({
  run: textOf(form['run']),
  step: textOf(form['step']),
  set: textOf(form['set']),
  name: textOf(form['name']),
  note: textOf(form['note']),
});

/** The id of the set that has the execution now. */
async function pin({ deps }: PageContext, { run, step, set, name, note }: Asked, by: Actor): Promise<string> {
  const { goldenSets } = deps;
  const member = NewGoldenMember.safeParse({ run_id: run, step_name: step, note });
  if (!member.success) throw refused(member.error);
  if (set !== '') return pinInto(set);
  const { step: recorded } = await goldenSets.offer(run, step);
  const fresh = NewGoldenSet.safeParse({ name, step_name: recorded.family });
  if (!fresh.success) throw refused(fresh.error);
  return pinInto((await goldenSets.create(fresh.data, by)).id);

  async function pinInto(id: string): Promise<string> {
    await goldenSets.pin(id, member.data as NewGoldenMember, by);
    return id;
  }
}

const refused = ({ issues: [issue] }: { issues: { path: PropertyKey[]; message: string }[] }) =>
  new AppError('validation', `${String(issue?.path[0] ?? 'the form')}: ${issue?.message ?? 'is not valid'}`);

type Shown = Pick<Asked, 'run' | 'step'> & Partial<Pick<Asked, 'name' | 'note'>> & { problem?: string | null };

async function sendForm(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { run, step, problem = null, name = '', note = '' }: Shown,
): Promise<FastifyReply> {
  const { deps } = context;
  const offer = await deps.goldenSets.offer(run, step);
  const operator = mayOperate(deps.auth.viewer(request));
  const model = pinView({ offer, operator, problem, entered: { name, note } });
  return sendPage(context, request, reply, {
    title: 'Pin to a golden set',
    nav: 'golden-sets',
    template: 'golden-pin',
    model,
    status: problem === null ? 200 : 400,
  });
}
