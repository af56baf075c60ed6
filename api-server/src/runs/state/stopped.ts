/** Why a signal of a run, a step or a call fired. */
export class Stopped extends Error {
  readonly why: 'cancelled' | 'run_timeout' | 'step_timeout' | 'call_timeout' | 'shutdown';
  constructor(why: Stopped['why'], message: string) {
    super(message);
    this.why = why;
  }
}

/** Another process continues the run at once. */
export class TakenOver extends Stopped {
  constructor() {
    super('shutdown', 'another process has the run');
  }
}

/** The reason of an aborted signal, whatever aborted it; null while it has not fired. */
export const stopReason = (signal: AbortSignal): Stopped | null => {
  if (!signal.aborted) return null;
  return signal.reason instanceof Stopped ? signal.reason : new Stopped('cancelled', 'the run was cancelled');
};
