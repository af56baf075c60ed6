import { meantOrAvailable, NAME_PATTERN } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { unlessUnknown } from '../problems.ts';
import { agentView } from './view.ts';

const unknownAgent = (name: string, agents: readonly string[]) => ({
  status: 404,
  title: 'There is no such agent',
  text: `Unknown agent ${name.slice(0, 64)}: the gateway has none of this name, and no step has used one. ${meantOrAvailable(name, agents)}`,
  action: { href: paths.agents(), label: 'All agents' },
});

/** An agent with all versions that were used, also where the gateway no longer has it. */
export function registerAgents(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/agents/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const isName = NAME_PATTERN.test(name);
    const versions = isName ? await deps.history.agentVersions(name, request.signal).catch(unlessUnknown) : null;
    if (versions === null) {
      const { agents } = await deps.definitions.agents();
      const names = agents.filter(({ executor }) => executor === 'gateway').map((agent) => agent.name);
      if (!names.includes(name)) return sendProblem(context, request, reply, unknownAgent(name, names));
    }
    const model = agentView(name, versions ?? [], deps.now());
    return sendPage(context, request, reply, { title: name, nav: 'agents', template: 'agent', model });
  });
}
