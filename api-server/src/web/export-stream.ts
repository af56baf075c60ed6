import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MEDIA_TYPES } from '../service/exports/formats.ts';
import type { ExportKind, ExportQuery, Exports } from '../service/exports/exports.ts';
import { tokenOf } from './auth/caller.ts';
import { whenClosed } from './when-closed.ts';

/** Answers an export as a file while it is read. The first page is read before, so that a refusal is still an answer. */
export async function exportStream(
  exports: Exports,
  kind: ExportKind,
  query: ExportQuery,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<Readable> {
  const pages = exports.rows(kind, query, { by: tokenOf(request), signal: request.signal });
  // A stream that was never begun to be read does not end its generator.
  whenClosed(reply.raw, () => void pages.return(undefined));
  const first = await pages.next();
  const cut = () => reply.raw.destroy();
  reply
    .header('content-type', MEDIA_TYPES[query.format])
    .header('content-disposition', `attachment; filename="${kind}.${query.format}"`)
    .header('cache-control', 'no-store');
  return Readable.from(all({ first, rest: pages, cut }), { highWaterMark: 1 });
}

/** How long a page may wait for its reader. */
export const UNREAD_MS = 60_000;

interface Pages {
  first: IteratorResult<Uint8Array>;
  rest: AsyncGenerator<Uint8Array>;
  /** Closes the connection. */
  cut(): void;
}

/** Ends the reading where the client goes away before the end, or does not read. */
async function* all({ first, rest, cut }: Pages) {
  try {
    for (let page = first; !page.done; page = await rest.next()) {
      const unread = setTimeout(cut, UNREAD_MS);
      yield page.value;
      clearTimeout(unread);
    }
  } finally {
    await rest.return(undefined);
  }
}
