import type { RunWatcher } from '../runs/run.ts';
import { RUNNER_STATE, type RunnerState } from './protocol.ts';

const ANSWER_WITHIN_MS = 5000;

/** Sends the runner's state to every connected gateway, where it changed since the last time. */
export class Announcer {
  private readonly state: () => RunnerState;
  private readonly sent = new Map<RunWatcher, string>();
  private readonly looking: NodeJS.Timeout;

  /** Checks every `everyMs`: tool servers may change their tools without a transition. */
  constructor(state: () => RunnerState, everyMs: number) {
    this.state = state;
    this.looking = setInterval(() => this.announce(), everyMs);
    this.looking.unref();
  }

  add(gateway: RunWatcher): void {
    if (!this.sent.has(gateway)) this.sent.set(gateway, '');
    this.announce();
  }

  remove(gateway: RunWatcher): void {
    this.sent.delete(gateway);
  }

  announce(): void {
    if (this.sent.size === 0) return;
    const state = this.state();
    const text = JSON.stringify(state);
    for (const [gateway, known] of this.sent) if (known !== text) this.tell(gateway, state, text);
  }

  close(): void {
    clearInterval(this.looking);
    this.sent.clear();
  }

  private tell(gateway: RunWatcher, state: RunnerState, text: string): void {
    this.sent.set(gateway, text);
    // Sent again at the next check, unless the gateway disconnected.
    const again = () => {
      if (this.sent.get(gateway) === text) this.sent.set(gateway, '');
    };
    gateway
      .ask?.(RUNNER_STATE, state, AbortSignal.timeout(ANSWER_WITHIN_MS))
      .then(({ error }) => error?.data?.retryable && again(), again);
  }
}
