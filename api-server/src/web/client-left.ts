import type { FastifyReply } from 'fastify';

/** Fires when the client leaves before it has its answer. `request.signal` also fires as soon as a body was read. */
export function clientLeft({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
