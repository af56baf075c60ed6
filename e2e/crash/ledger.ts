import type { GatewayCall } from '../bench/fake-gateway.ts';

/** Steps of the pipeline under test, in order. */
export const STEPS = ['triage', 'investigate', 'conclude'] as const;

/** How a completed step became known. */
export type Sight = 'stored' | 'next_step_called' | 'logged';

export type Violation =
  | { kind: 'lost'; run_id: string; key: string }
  | { kind: 'unfinished'; run_id: string; key: string; status: string }
  | { kind: 'two_runs'; key: string; run_ids: [string, string] }
  | { kind: 'repeated_step'; run_id: string; step_name: string; seen: Sight }
  | { kind: 'other_key'; run_id: string; step_name: string; keys: [string, string] };

/** What the database holds after a kill. */
export interface Stored {
  /** Status by run id. */
  runs: ReadonlyMap<string, string>;
  /** Completed steps. */
  completed: readonly StepName[];
}

export interface StepName {
  run_id: string;
  step_name: string;
}

const TERMINAL = new Set(['completed', 'stopped', 'escalated', 'aborted', 'failed', 'cancelled']);

/**
 * Records what was seen from outside and reports violations. A step counts as completed from the moment
 * when anybody could know: its row was found completed after a kill, the service's log said so, or the gateway was asked
 * for a later step of the run, which the service may do only once the row is durable. From then on it must
 * not be called again.
 */
export class Ledger {
  readonly violations: Violation[] = [];
  calls = 0;
  repeats = 0;
  readonly #accepted = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  readonly #completed = new Map<string, Sight>();

  get accepted(): number {
    return this.#accepted.size;
  }

  /** A 202 that names the run of this key: accepted, or deduplicated where the first answer was lost. */
  answered(key: string, runId: string): void {
    const known = this.#accepted.get(key);
    if (known !== undefined && known !== runId)
      this.violations.push({ kind: 'two_runs', key, run_ids: [known, runId] });
    this.#accepted.set(key, runId);
  }

  called({ run_id, step_name, idempotency_key }: GatewayCall): void {
    this.calls++;
    const step = stepId(run_id, step_name);
    const seen = this.#completed.get(step);
    if (seen) this.violations.push({ kind: 'repeated_step', run_id, step_name, seen });
    const before = this.#keys.get(step);
    if (before !== undefined) this.repeats++;
    if (before !== undefined && before !== idempotency_key)
      this.violations.push({ kind: 'other_key', run_id, step_name, keys: [before, idempotency_key] });
    this.#keys.set(step, idempotency_key);
    const position = STEPS.findIndex((name) => name === step_name);
    for (const earlier of STEPS.slice(0, Math.max(0, position)))
      this.#complete(stepId(run_id, earlier), 'next_step_called');
  }

  saw(completed: readonly StepName[], sight: Sight): void {
    for (const { run_id, step_name } of completed) this.#complete(stepId(run_id, step_name), sight);
  }

  /** At the end, when the service had time to finish: no accepted webhook without its run in a terminal state. */
  finish({ runs }: Stored): void {
    for (const [key, run_id] of this.#accepted) {
      const status = runs.get(run_id);
      if (status === undefined) this.violations.push({ kind: 'lost', run_id, key });
      else if (!TERMINAL.has(status)) this.violations.push({ kind: 'unfinished', run_id, key, status });
    }
  }

  #complete(step: string, seen: Sight): void {
    if (!this.#completed.has(step)) this.#completed.set(step, seen);
  }
}

const stepId = (runId: string, stepName: string): string => `${runId}/${stepName}`;
