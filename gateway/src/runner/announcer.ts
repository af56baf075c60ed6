import type { RunWatcher } from '../runs/run.ts';
import { RUNNER_STATE, type RunnerState } from './protocol.ts';

const ANSWER_WITHIN_MS = 5000;

/** Tells every connected gateway of the runner's state, each only what is news to it. */
export class Announcer {
  private readonly state: () => RunnerState;
  private readonly told = new Map<RunWatcher, string>();
  private readonly looking: NodeJS.Timeout;

  /** Looks again every `everyMs`: tool servers may change their tools without a transition. */
  constructor(state: () => RunnerState, everyMs: number) {
    this.state = state;
    this.looking = setInterval(() => this.announce(), everyMs);
    this.looking.unref();
  }

  add(gateway: RunWatcher): void {
    if (!this.told.has(gateway)) this.told.set(gateway, '');
    this.announce();
  }

  remove(gateway: RunWatcher): void {
    this.told.delete(gateway);
  }

  announce(): void {
    if (this.told.size === 0) return;
    const state = this.state();
    const text = JSON.stringify(state);
    for (const [gateway, known] of this.told) if (known !== text) this.tell(gateway, state, text);
  }

  close(): void {
    clearInterval(this.looking);
    this.told.clear();
  }

  private tell(gateway: RunWatcher, state: RunnerState, text: string): void {
    this.told.set(gateway, text);
    gateway.ask?.(RUNNER_STATE, state, AbortSignal.timeout(ANSWER_WITHIN_MS)).catch(() => {
      // Told again at the next look, unless it is gone.
      if (this.told.get(gateway) === text) this.told.set(gateway, '');
    });
  }
}
