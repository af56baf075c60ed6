import type { FastifyReply } from 'fastify';

/**
 * Fires when the connection of a request ends, at the latest after its answer. The signal of the request itself fires
 * as soon as its body is read, so it is none for a method that has one.
 */
export function untilLeft({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  raw.once('close', () => leaving.abort());
  return leaving.signal;
}
