import { KEY_TTL_MS } from './idempotency.ts';
import type { FinishedRun, Run } from './run.ts';

const MAX_RUNS = 10_000;
const MAX_CHARS = 32 * 1024 * 1024;
const COMPACT_AFTER = 1000;
/** Characters of a run beside its answer, about. */
const OVERHEAD = 1000;

interface Finished {
  run: Run;
  chars: number;
  since: number;
}

/** Runs of the last hour that can still be attached to, bounded in number and in size; the oldest go first. */
export class FinishedRuns {
  private readonly runs = new Map<string, Run>();
  /** In the order in which they ended; runs before `oldest` are forgotten. A map is slow to find its first key. */
  private order: Finished[] = [];
  private oldest = 0;
  private readonly deps: { now: () => number; onForget: (run: Run) => void };
  private chars = 0;

  constructor(deps: { now: () => number; onForget: (run: Run) => void }) {
    this.deps = deps;
  }

  get(id: string): Run | undefined {
    return this.runs.get(id);
  }

  add(run: Run, outcome: FinishedRun): void {
    const chars = OVERHEAD + outcome.json.length;
    const now = this.deps.now();
    this.runs.set(run.id, run);
    this.order.push({ run, chars, since: now });
    this.chars += chars;
    for (let first = this.order[this.oldest]; first && this.isTooMuch(first, now); first = this.order[this.oldest])
      this.forget(first);
    if (this.oldest > COMPACT_AFTER) {
      this.order = this.order.slice(this.oldest);
      this.oldest = 0;
    }
  }

  private isTooMuch({ since }: Finished, now: number): boolean {
    return this.runs.size > MAX_RUNS || this.chars > MAX_CHARS || now - since > KEY_TTL_MS;
  }

  private forget({ run, chars }: Finished): void {
    this.oldest += 1;
    this.chars -= chars;
    this.runs.delete(run.id);
    this.deps.onForget(run);
  }
}
