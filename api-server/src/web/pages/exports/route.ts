import type { FastifyInstance } from 'fastify';
import { EXPORT_KINDS, ExportQuery } from '../../../service/exports/exports.ts';
import { validationError } from '../../errors.ts';
import { exportStream } from '../../export-stream.ts';
import type { PageContext } from '../page.ts';

/** `/ui/exports/{kind}`: the files of the JSON routes, for a browser that has a session instead of a token. */
export function registerExports(app: FastifyInstance, context: PageContext): void {
  for (const kind of EXPORT_KINDS)
    app.get(`/ui/exports/${kind}`, async (request, reply) => {
      const query = ExportQuery.safeParse(request.query);
      if (!query.success) throw validationError(query.error, ['query']);
      return exportStream(context.deps.exports, kind, query.data, { request, reply });
    });
}
