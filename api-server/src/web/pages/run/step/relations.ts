import { age, duration, exactTime, secondsBetween } from '../../format.ts';
import { paths } from '../../paths.ts';
import { firstByRank } from '../first-by-rank.ts';
import { plural } from '../../runs/row.ts';
import { isActive, statusLook } from '../../status.ts';
import type { ApprovalLine } from '../../../../service/views/approval.ts';
import type { ShownRun, ShownStep } from './shown-step.ts';

/** Sub-runs on one page; those that did not go well come before the others. */
const MOST_CHILDREN = 100;
const wentWell = ({ status, warning_count }: ShownRun['children'][number]) =>
  status === 'completed' && warning_count === 0;

/** The run that a `pipeline` step started. */
export function subRunOf(run: ShownRun, step: ShownStep) {
  const starters = startersOf(run);
  const id =
    step.raw_response?.child_run_id ?? run.children.find((child) => starters.get(child.id) === step.step_name)?.id;
  if (id === undefined) return null;
  const child = run.children.find((candidate) => candidate.id === id);
  return {
    href: paths.run(id),
    name: child?.pipeline_name ?? 'Sub-run',
    id: `…${id.slice(-8)}`,
    status: child === undefined ? null : statusLook(child.status, child.waiting_on),
  };
}

/** Run -> the step that started it. A step names its run when it ends; before, only the one that still runs can have started a run that does. */
function startersOf({ steps, children }: ShownRun): Map<string, string> {
  const open = steps.filter((step) => step.executor === 'pipeline' && step.status === 'running');
  const ongoing = open.length === 1 ? children.filter(({ status }) => isActive(status)) : [];
  return new Map([
    ...ongoing.map(({ id }) => [id, open[0]?.step_name ?? ''] as const),
    ...steps.flatMap(({ raw_response: answer, step_name: name }) =>
      typeof answer?.child_run_id === 'string' ? [[answer.child_run_id, name] as const] : [],
    ),
  ]);
}

/** The runs that steps of this run started, as many as a page shows. */
export function childRows(run: ShownRun, now: number) {
  const starters = startersOf(run);
  const shown = firstByRank(run.children, MOST_CHILDREN, (child) => Number(wentWell(child)));
  return shown.map((child) => ({
    href: paths.run(child.id),
    pipeline: child.pipeline_name,
    step: starters.get(child.id) ?? '',
    status: statusLook(child.status, child.waiting_on),
    warnings: child.warning_count === 0 ? null : plural(child.warning_count, 'warning'),
    duration: duration(secondsBetween(child.triggered_at, child.completed_at ?? (isActive(child.status) ? now : null))),
  }));
}

/** The runs that repeat this one. */
export const rerunRows = (run: ShownRun, now: number) =>
  (run.reruns ?? []).map((again) => ({
    href: paths.run(again.id),
    compare: paths.compare(run.id, again.id),
    name: `…${again.id.slice(-8)}`,
    status: statusLook(again.status, again.waiting_on),
    since: again.triggered_at,
    exact: exactTime(again.triggered_at),
    age: age(again.triggered_at, now),
  }));

/** Marks the steps that wait for an approval: they are shown as waiting, not as running. */
export function withWaits(run: ShownRun, approvals: readonly ApprovalLine[]): ShownRun {
  const asking = new Set(approvals.filter(({ status }) => status === 'pending').map(({ step_name }) => step_name));
  const waits = ({ status, step_name }: ShownStep) => status === 'running' && asking.has(step_name);
  return { ...run, steps: run.steps.map((step) => (waits(step) ? { ...step, waits: true } : step)) };
}

/** The original of a rerun, and the results that were taken from it. */
export function rerunNote(run: ShownRun) {
  const original = run.rerun_of;
  if (original === null || original === undefined) return null;
  const taken = run.steps.filter((step) => step.raw_response?.loaded !== undefined);
  const top = taken.filter((step) => step.kind !== 'branch' && step.kind !== 'fan_out_branch');
  return {
    href: paths.run(original),
    compare: paths.compare(original, run.id),
    id: `…${original.slice(-8)}`,
    text:
      taken.length === 0
        ? 'It began from the start; nothing was taken over.'
        : `${plural(taken.length, 'result')} taken over and not run again: ${top.map(({ step_name }) => step_name).join(', ')}.`,
  };
}

/** A step from which a rerun may begin: an entry of the pipeline itself. */
export const isEntry = ({ kind }: ShownStep): boolean => kind !== 'branch' && kind !== 'fan_out_branch';
