import type { Attempt } from '../state/step-kind.ts';

const QUEUED = new Set(['queued', 'backend_full']);

/** The time until a backend has room for a call: from its first word of it to any other word, or to the end of the call. */
export function backendQueue(now: () => number, waited: Attempt['waited']) {
  let since: number | null = null;
  const leave = (): boolean => {
    if (since === null) return false;
    waited('queue', since, now());
    since = null;
    return true;
  };
  return {
    leave,
    /** True where the event ends the wait. */
    hear: (event: string): boolean => {
      if (!QUEUED.has(event)) return leave();
      since ??= now();
      return false;
    },
  };
}
