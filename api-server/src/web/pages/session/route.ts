import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths, safeReturn } from '../paths.ts';
import { asTheme, THEME_COOKIE, themeCookie } from '../theme.ts';

const WRONG = {
  title: 'Invalid token.',
  text: 'Check that you copied the whole token. Webhook tokens cannot log in: use a token with the role viewer, operator or admin.',
};

/** Login, logout and the choice of a theme (Orchestration 5, rules 6 to 8). */
export function registerSession(app: FastifyInstance, context: PageContext): void {
  const { auth } = context.deps;

  app.get('/ui/login', (request, reply) => {
    const next = safeReturn((request.query as Record<string, unknown>)['next']);
    if (auth.viewer(request) !== null) return reply.redirect(next);
    return sendPage(context, request, reply, {
      title: 'Log in',
      nav: null,
      template: 'login',
      model: { action: paths.login(), next, wrong: null },
    });
  });

  app.post('/ui/login', async (request, reply) => {
    const form = (request.body ?? {}) as Record<string, unknown>;
    const next = safeReturn(form['next']);
    const token = typeof form['token'] === 'string' ? form['token'].trim() : '';
    if (token !== '' && auth.logIn(request, reply, { token, remember: form['remember'] === '1' }))
      return reply.redirect(next, 303);
    const model = { action: paths.login(), next, wrong: WRONG };
    return sendPage(context, request, reply, { title: 'Log in', nav: null, template: 'login', model, status: 401 });
  });

  app.post('/ui/logout', async (request, reply) => {
    if (!auth.mayPost(request)) return sendProblem(context, request, reply, STALE_FORM);
    await auth.logOut(request, reply);
    return reply.redirect(paths.login(), 303);
  });

  app.post('/ui/theme', (request, reply) => {
    if (!auth.mayPost(request)) return sendProblem(context, request, reply, STALE_FORM);
    const form = (request.body ?? {}) as Record<string, unknown>;
    const theme = asTheme(form['theme']);
    return reply.setCookie(THEME_COOKIE, theme, themeCookie(theme)).redirect(safeReturn(form['next']), 303);
  });
}

/** Answer to a form whose CSRF token is missing or belongs to an earlier session. */
export const STALE_FORM = {
  status: 403,
  title: 'This form is out of date',
  text: 'The page was opened in another session. Open it again and repeat what you wanted to do; nothing was changed.',
};
