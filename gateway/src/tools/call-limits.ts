/** How long calls may take: without an answer and without progress, and in all. Milliseconds. */
export interface CallTimeouts {
  timeoutMs: number;
  maxTimeoutMs: number;
}

const DEFAULT_MAX_TIMEOUT_MS = 600_000;

/** The longest time of a call that reports progress, where the operator says no other. */
export const longestOf = (timeoutMs: number): number => Math.max(timeoutMs, DEFAULT_MAX_TIMEOUT_MS);

/** Ends a call with its run, or when it took its longest time. */
export interface CallSignal {
  signal: AbortSignal;
  /** Whether the longest time is over. */
  isOver: () => boolean;
  /** To be called when the call has ended: the signal of a run lives longer than its calls. */
  release: () => void;
}

export function openCallSignal(run: AbortSignal, maxTimeoutMs: number): CallSignal {
  const call = new AbortController();
  const end = () => call.abort(run.reason);
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    call.abort(new Error('the call took too long'));
  }, maxTimeoutMs);
  run.addEventListener('abort', end, { once: true });
  if (run.aborted) end();
  return {
    signal: call.signal,
    isOver: () => over,
    release: () => {
      clearTimeout(timer);
      run.removeEventListener('abort', end);
    },
  };
}
