import { createHash } from 'node:crypto';
import { type AgentRunParams, canonicalJson } from '@signalbox/crds';

/** A key's parameters, as a hash, and its run. */
interface Remembered<Run> {
  parameters: string;
  run: Run;
  since: number;
}

export type KeyLookup<Run> = { kind: 'new' } | { kind: 'same'; run: Run } | { kind: 'other' };

export const KEY_TTL_MS = 3_600_000;

/** Keys of the last hour, as long as their run is kept: a repeat with the same parameters gets the same run. */
export class IdempotencyKeys<Run> {
  private readonly keys = new Map<string, Remembered<Run>>();
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  find(key: string, parameters: string): KeyLookup<Run> {
    const known = this.keys.get(key);
    if (!known || this.now() - known.since > KEY_TTL_MS) return { kind: 'new' };
    return known.parameters === parameters ? { kind: 'same', run: known.run } : { kind: 'other' };
  }

  get(key: string | undefined): Run | undefined {
    return key === undefined ? undefined : this.keys.get(key)?.run;
  }

  remember(key: string, parameters: string, run: Run): void {
    this.keys.set(key, { parameters, run, since: this.now() });
  }

  forget(key: string | undefined, run: Run): void {
    if (key !== undefined && this.keys.get(key)?.run === run) this.keys.delete(key);
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
