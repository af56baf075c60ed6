import type { ServerResponse } from 'node:http';

/** Calls the listener once the answer is closed: at once where its client has left already, for which there is no event any more. */
export function whenClosed(out: Pick<ServerResponse, 'destroyed' | 'closed' | 'once'>, listener: () => void): void {
  if (out.destroyed || out.closed) listener();
  else out.once('close', listener);
}
