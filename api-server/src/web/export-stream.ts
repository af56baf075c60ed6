import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MEDIA_TYPES } from '../service/exports/formats.ts';
import type { ExportKind, ExportQuery, Exports } from '../service/exports/exports.ts';

/** Answers an export as a file while it is read. The first page is read before, so that a refusal is still an answer. */
export async function exportStream(
  exports: Exports,
  kind: ExportKind,
  query: ExportQuery,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<Readable> {
  const pages = exports.rows(kind, query, request.signal);
  const first = await pages.next();
  reply
    .header('content-type', MEDIA_TYPES[query.format])
    .header('content-disposition', `attachment; filename="${kind}.${query.format}"`)
    .header('cache-control', 'no-store');
  return Readable.from(all(first, pages), { highWaterMark: 1 });
}

/** Ends the reading where the client goes away before the end. */
async function* all(first: IteratorResult<Uint8Array>, rest: AsyncGenerator<Uint8Array>) {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
