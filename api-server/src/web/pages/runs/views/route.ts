import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type PageContext, sendProblem } from '../../page.ts';
import { paths } from '../../paths.ts';
import { STALE_FORM } from '../../session/route.ts';
import {
  canonical,
  savedViews,
  type SavedView,
  viewName,
  VIEWS_COOKIE,
  VIEWS_COOKIE_OPTIONS,
  viewsCookie,
} from './saved.ts';

const NO_NAME = {
  status: 400,
  title: 'This view has no name',
  text: 'Name the view, so that you find it again.',
  action: { href: paths.runs(), label: 'All runs' },
};
const TOO_MANY = {
  status: 400,
  title: 'There is no room for another view',
  text: 'A browser keeps about twenty views. Remove one that you no longer need.',
  action: { href: paths.runs(), label: 'All runs' },
};

export const ownViews = ({ deps }: PageContext, request: FastifyRequest): SavedView[] =>
  savedViews(request.cookies[VIEWS_COOKIE], deps.auth.viewer(request)?.name ?? '');

/** Saves and removes the named views of a person. */
export function registerViews(app: FastifyInstance, context: PageContext): void {
  const { auth } = context.deps;

  app.post('/ui/runs/views', (request, reply) => {
    if (!auth.mayPost(request)) return sendProblem(context, request, reply, STALE_FORM);
    const asked = askedIn((request.body ?? {}) as Record<string, unknown>);
    if (asked.name === '') return sendProblem(context, request, reply, NO_NAME);
    const cookie = viewsCookie(changed(ownViews(context, request), asked), auth.viewer(request)?.name ?? '');
    if (cookie === null) return sendProblem(context, request, reply, TOO_MANY);
    const next = asked.query === null ? paths.runs() : `${paths.runs()}?${asked.query}`;
    return reply.setCookie(VIEWS_COOKIE, cookie, VIEWS_COOKIE_OPTIONS).redirect(next, 303);
  });
}

interface Asked {
  name: string;
  /** Null where the view is to be removed. */
  query: string | null;
}

const askedIn = ({ name, query, action }: Record<string, unknown>): Asked => ({
  name: viewName(name),
  query: action === 'remove' ? null : canonical(String(query ?? '')),
});

const changed = (views: readonly SavedView[], { name, query }: Asked): SavedView[] => {
  const others = views.filter((view) => view.name !== name);
  return query === null ? others : [...others, { name, query }];
};
