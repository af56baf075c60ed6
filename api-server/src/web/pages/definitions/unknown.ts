import type { FastifyRequest } from 'fastify';
import type { PageDeps } from '../page-deps.ts';
import { paths } from '../paths.ts';

const MOST_NAMED = 12;

/** The problem page of a pipeline that is not loaded, with the names of those that are. */
export function unknownPipeline({ definitions }: Pick<PageDeps, 'definitions'>, request: FastifyRequest) {
  const { name } = request.params as { name: string };
  const names = definitions.snapshot().pipelines.map((one) => one.name);
  const others = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const available =
    names.length === 0 ? 'No pipeline is loaded.' : `Available: ${names.slice(0, MOST_NAMED).join(', ')}${others}.`;
  return {
    status: 404,
    title: 'There is no such pipeline',
    text: `No pipeline named ${name.slice(0, 64)} is loaded: it was renamed or removed, or its file has an error. ${available}`,
    action: { href: paths.pipelines(), label: 'All pipelines' },
  };
}
