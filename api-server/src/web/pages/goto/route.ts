import type { FastifyInstance } from 'fastify';
import { mayOperate, type PageContext } from '../page.ts';
import type { PageDeps } from '../page-deps.ts';
import { gotoResults } from './results.ts';

const MOST_RUNS = 5;
const MAX_LENGTH = 100;
const AGENTS_MS = 10_000;

/** `/ui/goto`: what the palette lists for some words, as HTML without the rest of a page. */
export function registerGoto(app: FastifyInstance, context: PageContext): void {
  const { deps, render } = context;
  const agents = agentsBeside(deps);
  app.get('/ui/goto', async (request, reply) => {
    const asked = (request.query as Record<string, unknown>)['q'];
    const q = typeof asked === 'string' ? asked.slice(0, MAX_LENGTH) : '';
    const results = gotoResults({
      q,
      definitions: deps.definitions.snapshot(),
      agents: agents(),
      runs: await deps.runs.byPrefix(q.trim().toLowerCase(), MOST_RUNS),
      operator: mayOperate(deps.auth.viewer(request)),
    });
    const none =
      results.length > 0 ? null : `Nothing is named “${q}”, and no run's id begins so. / searches what runs say.`;
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(render('_goto-results', { results, none }));
  });
}

/** Names of agents as the backends last listed them: no key waits for a backend. */
function agentsBeside({ definitions, now }: Pick<PageDeps, 'definitions' | 'now'>): () => string[] {
  let known: string[] = [];
  let askedAt = -Infinity;
  return () => {
    if (now() - askedAt > AGENTS_MS) {
      askedAt = now();
      definitions.agents().then(
        ({ agents }) =>
          (known = [...new Set(agents.filter(({ executor }) => executor === 'gateway').map(({ name }) => name))]),
        () => undefined,
      );
    }
    return known;
  };
}
