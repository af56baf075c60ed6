import { Stopped, stopReason } from './stopped.ts';

export interface Limit {
  /** Milliseconds; undefined where only `follows` can end it. */
  after: number | undefined;
  why: Extract<Stopped['why'], `${string}_timeout`>;
  message: string;
  /** Fires as well, with its own reason. */
  follows?: AbortSignal;
  /** What is aborted; a new one where none is given. */
  controller?: AbortController;
}

/** A time limit; `using` clears its timer. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** Starts a time limit: its signal fires with a `Stopped` when the time is over or when `follows` fires, whichever is first. */
export function withDeadline({ after, why, message, follows, controller = new AbortController() }: Limit): Deadline {
  const follow = () => controller.abort(follows && stopReason(follows));
  const expire = () => controller.abort(new Stopped(why, message));
  const timer = after === undefined ? undefined : setTimeout(expire, after);
  if (follows?.aborted) follow();
  else follows?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      follows?.removeEventListener('abort', follow);
    },
  };
}
