import type { FastifyReply } from 'fastify';
import { whenClosed } from './when-closed.ts';

/** Fires when the client leaves before it has its answer. `request.signal` also fires as soon as a body was read. */
export function clientLeft({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenClosed(raw, () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
