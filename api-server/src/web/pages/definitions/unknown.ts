import { meantOrAvailable } from '@signalbox/crds';
import type { FastifyRequest } from 'fastify';
import type { PageDeps } from '../page-deps.ts';
import { paths } from '../paths.ts';

/** The problem page of a pipeline that is not loaded, with the names of those that are. */
export function unknownPipeline({ definitions }: Pick<PageDeps, 'definitions'>, request: FastifyRequest) {
  const { name } = request.params as { name: string };
  const names = definitions.snapshot().pipelines.map((one) => one.name);
  return {
    status: 404,
    title: 'There is no such pipeline',
    text: `Unknown pipeline ${name.slice(0, 64)}: it was renamed or removed, or its file has an error. ${meantOrAvailable(name, names)}`,
    action: { href: paths.pipelines(), label: 'All pipelines' },
  };
}
