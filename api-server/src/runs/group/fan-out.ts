import type { FanOutStep } from '@signalbox/crds';
import type { ActiveRun } from '../state/active-run.ts';
import { failure, type Failure } from '../state/executor.ts';
import {
  beginGroup,
  closeGroup,
  endGroup,
  failGroup,
  runBranches,
  type BegunGroup,
  type Branch,
  type Group,
} from './group.ts';
import { runValues } from '../prompt/run-values.ts';
import { ownerOf } from '../prompt/templates.ts';
import { expressionFailure } from '../prompt/when.ts';
import { addBranches, TOO_MANY_BRANCHES } from '../state/workers.ts';
import type { StepDeps, StepOutcome } from '../step/step.ts';

/** Runs one branch an item of a list that is known only now; branches are named `<step>/<index>` (Orchestration 2.2). */
export async function runFanOut(deps: StepDeps, run: ActiveRun, step: FanOutStep, index: number): Promise<StepOutcome> {
  const group: Group = { run, step, index, executor: 'fan_out', join: step.fan_out.join, raw: null };
  const earlier = run.inFlight.get(step.name)?.rawResponse?.items;
  const listed = earlier ?? (await evaluateList(deps, run, step));
  if (!Array.isArray(listed)) return failGroup(deps, group, listed);
  const raw = { items: listed };
  // What a resumed one began with counts until its run ends.
  using held = earlier ? null : deps.prompts.hold(run, { raw });
  if (held?.refused) return failGroup(deps, group, held.refused);
  if (!addBranches(run, listed.length)) return failGroup(deps, group, TOO_MANY_BRANCHES);
  // The list is stored with the row: a resumed fan-out goes on with the items it began with.
  const begun = await beginGroup(deps, { ...group, raw }, listed.length);
  if (listed.length === 0) return empty(deps, begun);
  const branches = listed.map((item, at) => branch(begun, step, { item, at, total: listed.length, index }));
  const errors = await runBranches(deps, begun, branches, step.fan_out.max_parallel);
  return endGroup(deps, begun, branches, errors);
}

const failed = (message: string) => failure('fan_out_failed', message);

async function evaluateList(
  deps: StepDeps,
  run: ActiveRun,
  { fan_out: { over, max_items: max } }: FanOutStep,
): Promise<unknown[] | Failure> {
  const result = await deps.templates.evaluate(over, runValues(run, deps.now()), ownerOf(run));
  if (!result.ok) return expressionFailure(result.reason, `over: ${result.msg}, in ${over}`, 'fan_out_failed');
  if (!Array.isArray(result.value)) return failed(`over does not yield a list: ${over}`);
  if (result.value.length > max) return failed(`over yields ${result.value.length} items, max_items is ${max}`);
  return result.value;
}

interface Item {
  item: unknown;
  at: number;
  total: number;
  index: number;
}

function branch(
  { run, span }: BegunGroup,
  { name, fan_out: { as, step } }: FanOutStep,
  { item, at, total, index }: Item,
): Branch {
  const locals = { [as]: item, fan_out: { index: at, total, item } };
  return { ctx: { run, step, name: `${name}/${at}`, index, kind: 'fan_out_branch', locals, span }, weight: 1 };
}

const ON_EMPTY = { complete: 'completed', skip: 'skipped', abort: 'aborted' } as const;

function empty(deps: StepDeps, begun: BegunGroup): StepOutcome {
  const { on_empty: rule } = (begun.step as FanOutStep).fan_out;
  const error = rule === 'abort' ? { type: 'empty', message: 'the list is empty (on_empty: abort)' } : null;
  return closeGroup(deps, begun, { status: ON_EMPTY[rule], error, trust: null });
}
