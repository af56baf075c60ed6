import type { ExecutorStep, ItemStep } from '@signalbox/crds';
import type { ActiveRun, Slot } from './active-run.ts';
import type { StepKind as RowKind } from './model.ts';
import type { Span } from './span.ts';

/** A step of any executor, whether it has a name of its own or is an item of a fan-out. */
export type AnyStep = ExecutorStep | ItemStep;

/** Where a step stands: its run, its definition, its name in this run, the index of its entry. */
export interface StepContext {
  run: ActiveRun;
  step: AnyStep;
  name: string;
  index: number;
  kind: Extract<RowKind, 'step' | 'branch' | 'fan_out_branch'>;
  /** Further names for templates and expressions, such as a fan-out's item. */
  locals: Readonly<Record<string, unknown>>;
  /** What it is a part of; of a step that has begun, its own. */
  span: Span;
  /** Of the run; of a branch, its group's, which also fires when the group's time is over. */
  signal: AbortSignal;
  /** Of the run; of a branch, its worker's share of it. */
  slot: Slot;
}
