import { KEY_TTL_MS } from './idempotency.ts';
import type { FinishedRun, Run } from './run.ts';

const MAX_RUNS = 10_000;
const MAX_CHARS = 32 * 1024 * 1024;

/** Runs of the last hour that can still be attached to, bounded in number and in size; the oldest go first. */
export class FinishedRuns {
  private readonly runs = new Map<string, { run: Run; chars: number; since: number }>();
  private readonly deps: { now: () => number; onForget: (run: Run) => void };
  private chars = 0;

  constructor(deps: { now: () => number; onForget: (run: Run) => void }) {
    this.deps = deps;
  }

  get(id: string): Run | undefined {
    return this.runs.get(id)?.run;
  }

  add(run: Run, outcome: FinishedRun): void {
    const chars = sizeOf(outcome);
    const now = this.deps.now();
    this.runs.set(run.id, { run, chars, since: now });
    this.chars += chars;
    for (const [id, oldest] of this.runs) {
      if (this.runs.size <= MAX_RUNS && this.chars <= MAX_CHARS && now - oldest.since <= KEY_TTL_MS) break;
      this.runs.delete(id);
      this.chars -= oldest.chars;
      this.deps.onForget(oldest.run);
    }
  }
}

/** About as many characters as the answer has as JSON. */
function sizeOf(outcome: FinishedRun): number {
  const { trace } = outcome.ok ? outcome.result : outcome.partial;
  const text = outcome.ok ? outcome.result.text.length * 2 : outcome.message.length;
  return trace.reduce((sum, entry) => sum + 300 + (entry.result?.length ?? 0), text + 1000);
}
