import { NAME_PATTERN } from '@signalbox/crds';
import type { FastifyInstance } from 'fastify';
import { type PageContext, sendPage, sendProblem } from '../page.ts';
import { paths } from '../paths.ts';
import { unlessUnknown } from '../problems.ts';
import { agentView } from './view.ts';

const UNKNOWN = {
  status: 404,
  title: 'There is no such agent',
  text: 'The gateway has no agent of this name, and no step has used one.',
  action: { href: paths.agents(), label: 'All agents' },
};

/** An agent with all versions that were used, also where the gateway no longer has it. */
export function registerAgents(app: FastifyInstance, context: PageContext): void {
  const { deps } = context;

  app.get('/ui/agents/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!NAME_PATTERN.test(name)) return sendProblem(context, request, reply, UNKNOWN);
    const versions = await deps.history.agentVersions(name, request.signal).catch(unlessUnknown);
    const isListed = async () => {
      const { agents } = await deps.definitions.agents();
      return agents.some((agent) => agent.executor === 'gateway' && agent.name === name);
    };
    if (versions === null && !(await isListed())) return sendProblem(context, request, reply, UNKNOWN);
    const model = agentView(name, versions ?? [], deps.now());
    return sendPage(context, request, reply, { title: name, nav: 'agents', template: 'agent', model });
  });
}
