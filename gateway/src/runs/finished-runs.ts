import { KEY_TTL_MS } from './idempotency.ts';
import type { FinishedRun, Run } from './run.ts';

const MAX_RUNS = 10_000;
const MAX_CHARS = 32 * 1024 * 1024;
/** What a run counts at least, so that the room holds as many. */
const LEAST_CHARS = Math.floor(MAX_CHARS / MAX_RUNS);
/** Characters of a run beside its answer, about. */
const OVERHEAD = 1000;
const COMPACT_AFTER = 1000;
const LOOK_EVERY_MS = 60_000;

type Kept = Pick<Run, 'id' | 'key' | 'share'>;

interface Finished<Of> {
  run: Of;
  chars: number;
  since: number;
}

/** Runs of one share in the order in which they ended; those before `oldest` are forgotten, and not here. A map is slow to find its first key. */
interface Line<Of> {
  order: (Finished<Of> | undefined)[];
  oldest: number;
  chars: number;
}

/** Runs of the last hour that can still be attached to, bounded in size; the oldest of the share that holds most go first. */
export class FinishedRuns<Of extends Kept = Run> {
  private readonly runs = new Map<string, Of>();
  /** By share. */
  private readonly lines = new Map<string, Line<Of>>();
  private readonly deps: { now: () => number; onForget: (run: Of) => void };
  private chars = 0;
  private lookedAt = 0;

  constructor(deps: { now: () => number; onForget: (run: Of) => void }) {
    this.deps = deps;
  }

  get(id: string): Of | undefined {
    return this.runs.get(id);
  }

  add(run: Of, outcome: FinishedRun): void {
    const chars = Math.max(LEAST_CHARS, OVERHEAD + outcome.json.length);
    const now = this.deps.now();
    const line = this.lines.get(run.share.key) ?? { order: [], oldest: 0, chars: 0 };
    this.lines.set(run.share.key, line);
    this.runs.set(run.id, run);
    line.order.push({ run, chars, since: now });
    line.chars += chars;
    this.chars += chars;
    if (now - this.lookedAt > LOOK_EVERY_MS) this.forgetOld(now);
    while (this.chars > MAX_CHARS) this.forgetFirst(this.longest());
  }

  private forgetOld(now: number): void {
    this.lookedAt = now;
    for (const line of this.lines.values())
      while (now - (line.order[line.oldest]?.since ?? now) > KEY_TTL_MS) this.forgetFirst(line);
  }

  private longest(): Line<Of> | undefined {
    let longest: Line<Of> | undefined;
    for (const line of this.lines.values()) if (line.chars > (longest?.chars ?? 0)) longest = line;
    return longest;
  }

  private forgetFirst(line: Line<Of> | undefined): void {
    const first = line?.order[line.oldest];
    if (!line || !first) return;
    const { run, chars } = first;
    line.order[line.oldest] = undefined;
    line.oldest += 1;
    line.chars -= chars;
    this.chars -= chars;
    this.runs.delete(run.id);
    this.deps.onForget(run);
    if (line.oldest === line.order.length) this.lines.delete(run.share.key);
    if (line.oldest <= COMPACT_AFTER) return;
    line.order = line.order.slice(line.oldest);
    line.oldest = 0;
  }
}
