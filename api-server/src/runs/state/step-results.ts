import { templateName } from '@signalbox/crds';
import type { StepStatus } from './model.ts';

/** What later steps see of an ended one, in templates and expressions. */
export interface StepView {
  status: StepStatus;
  summary: string | null;
  confidence: number | null;
  trust: number | null;
  output: Record<string, unknown>;
  next_step_context: unknown;
}

/** Ended steps of a run by name, in the order of their end. */
export class StepResults extends Map<string, StepView> {
  /**
   * The same as texts see them, by the name and by the name with `_` for `-`. All texts of a run have this one object, which becomes more
   * with each step: thousands of branches that each had their own would fill the memory.
   */
  readonly seen: Record<string, StepView> = {};

  /** Of the last end, in milliseconds. */
  #last = 0;

  constructor(results: Iterable<readonly [string, StepView]> = []) {
    super();
    for (const [name, view] of results) this.set(name, view);
  }

  /** The time of an end: later than that of each one before, so that a restart finds all of them in the same order. */
  endAt(now: number): number {
    this.#last = Math.max(now, this.#last + 1);
    return this.#last;
  }

  override set(name: string, view: StepView): this {
    this.seen[templateName(name)] = view;
    this.seen[name] = view;
    return super.set(name, view);
  }

  override clear(): void {
    for (const name of Object.keys(this.seen)) delete this.seen[name];
    super.clear();
  }
}
