import { createHash } from 'node:crypto';
import { type AgentRunParams, canonicalJson } from '@signalbox/crds';

/** A key's parameters, as a hash, and its run. */
interface Remembered<Run> {
  parameters: string;
  run: Run;
  /** Null while it goes on. */
  endedAt: number | null;
}

export type KeyLookup<Run> = { kind: 'new' } | { kind: 'same'; run: Run } | { kind: 'other' };

export const KEY_TTL_MS = 3_600_000;

/** Keys of runs that go on or ended within the last hour, as long as those are kept: a repeat with the same parameters gets the same run. */
export class IdempotencyKeys<Run extends { finished: Promise<unknown> }> {
  private readonly keys = new Map<string, Remembered<Run>>();
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  find(key: string, parameters: string): KeyLookup<Run> {
    const known = this.keys.get(key);
    if (!known || this.isOver(known)) return { kind: 'new' };
    return known.parameters === parameters ? { kind: 'same', run: known.run } : { kind: 'other' };
  }

  get(key: string | undefined): Run | undefined {
    const known = key === undefined ? undefined : this.keys.get(key);
    return known && !this.isOver(known) ? known.run : undefined;
  }

  remember(key: string, parameters: string, run: Run): void {
    const known: Remembered<Run> = { parameters, run, endedAt: null };
    this.keys.set(key, known);
    void run.finished.then(() => {
      known.endedAt = this.now();
    });
  }

  forget(key: string | undefined, run: Run): void {
    if (key !== undefined && this.keys.get(key)?.run === run) this.keys.delete(key);
  }

  private isOver({ endedAt }: Remembered<Run>): boolean {
    return endedAt !== null && this.now() - endedAt > KEY_TTL_MS;
  }
}

/** Two calls are the same where all parameters but timeout and tracing are equal. Earlier callers did not say their namespace. */
export function parametersHash({
  timeout_ms: _,
  trace: __,
  _meta: ___,
  idempotency_key: ____,
  metadata,
  ...params
}: AgentRunParams): string {
  const { namespace: _____, ...context } = metadata ?? {};
  return createHash('sha256')
    .update(canonicalJson({ ...params, ...(metadata && { metadata: context }) }))
    .digest('base64');
}
