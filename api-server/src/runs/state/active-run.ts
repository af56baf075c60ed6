import type { Pipeline } from '@signalbox/crds';
import type { Author } from '../../definitions/tenants.ts';
import type { Journal } from './events.ts';
import type { ConcurrencyGroup } from './concurrency-group.ts';
import type { Stage, StepExecution, TriggerContext } from './model.ts';
import type { Write } from './records.ts';
import type { Span } from './span.ts';
import type { StepResults } from './step-results.ts';

export interface Spent {
  tokens: number;
  /** In currency units; what has no price costs nothing. */
  cost: number;
}

/** A run in progress in this process. */
export interface ActiveRun {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly context: TriggerContext;
  readonly team: string | null;
  /** The namespace that its tokens count towards. */
  readonly namespace: string | null;
  readonly stage: Stage;
  readonly triggeredAt: number;
  readonly controller: AbortController;
  /** The epoch under which this process has the run: what it writes of it is stored under no other. */
  readonly owner: number | null;
  readonly journal: Journal;
  readonly results: StepResults;
  /** Steps that were in flight when the service stopped, by name. */
  readonly inFlight: Map<string, StepExecution>;
  /** Writes that wait for the next transaction of this run. */
  readonly pending: Write[];
  readonly totals: {
    inputTokens: number;
    outputTokens: number;
    cost: number | null;
    unpricedSteps: number;
    warningCount: number;
  };
  /** How much was answered, and what of it is kept in memory: bytes by step. */
  readonly answers: { size: number; readonly kept: Map<string, number> };
  /** Spent by its sub-runs, and by theirs. */
  readonly below: Spent;
  /** The run whose step started this one. */
  readonly parent: ActiveRun | null;
  /** The run that this one repeats. */
  readonly rerunOf: string | null;
  /** Values that texts of its steps use and that did not exist: by step, then by text. */
  readonly blanks: Map<string, Map<string, Set<string>>>;
  /** The execution slot, shared with sub-runs; a run that waits for a person gives it back meanwhile. */
  readonly slot: Slot;
  /** The concurrency group of its pipeline's `concurrency`. */
  readonly concurrencyGroup: ConcurrencyGroup | null;
  /** 1 for a run of its own, one more for each level of sub-run. */
  readonly depth: number;
  /** Writes the log of a run that has nothing else to write. */
  readonly log: { timer?: NodeJS.Timeout };
  /** The root of the run's trace. */
  span: Span;
  trust: number | null;
  threshold: number | null;
}

export const authorOf = ({ pipeline, namespace }: Pick<ActiveRun, 'pipeline' | 'namespace'>): Author => ({
  pipeline: pipeline.name,
  namespace,
});

export interface Slot {
  giveBack(): void;
  /** Rejects when the signal aborts first. */
  takeAgain(signal: AbortSignal): Promise<void>;
}
