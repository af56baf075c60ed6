import { isFanOut, isParallel, type Join, type Step } from '@signalbox/crds';
import { duration, score, secondsBetween, shorten } from '../../format.ts';
import { stepLook, statusLook, type StatusLook } from '../../status.ts';
import { firstByRank } from '../first-by-rank.ts';
import type { PlanNode } from './plan.ts';
import type { ShownStep } from '../step/shown-step.ts';

const JOINS: Record<Join, string> = {
  all_must_pass: 'all must pass: the lowest trust counts',
  any_must_pass: 'any may pass: the highest trust counts',
  weighted_average: 'weighted average of their trust',
};

/** The look of a branch; one below the threshold that its group did not pass says so. */
export function branchLook({ row: group }: PlanNode, row: ShownStep): StatusLook {
  const { passed = null, threshold = null } = group?.trust_report ?? {};
  const trust = trustOf(row);
  if (row.status !== 'completed' || passed !== false || threshold === null || trust === null || trust >= threshold)
    return stepLook(row);
  return { icon: 'alert', word: `Below ${score(threshold)}`, tone: 'wait' };
}

type Branch = PlanNode['branches'][number];
const URGENCY: Partial<Record<StatusLook['tone'], number>> = { bad: 0, escalated: 0, wait: 1 };

/** The less, the sooner somebody should see it. */
export const urgencyOf = (node: PlanNode, { row }: Branch): number => (row && URGENCY[branchLook(node, row).tone]) ?? 2;

/** The branches of a group in their order, but first those that failed, then those below the threshold. */
const byUrgency = (node: PlanNode): Branch[] =>
  node.branches.toSorted((a, b) => urgencyOf(node, a) - urgencyOf(node, b));

const SHOWN = 60;

/** Where there are too many, others that did not complete go before those that did. */
function shownBranches(node: PlanNode): Branch[] {
  const rank = (branch: Branch) => 2 * urgencyOf(node, branch) + Number(branch.row?.status === 'completed');
  return firstByRank(byUrgency(node), SHOWN, rank);
}

/** The place of a branch of a fan-out in its list. */
const indexOf = (name: string): number => Number(name.slice(name.lastIndexOf('/') + 1));

/** An item of a fan-out in a few characters. */
export function itemText(item: unknown, max: number): string {
  if (item === undefined || item === null) return '';
  const { name, id } = item as { name?: unknown; id?: unknown };
  const value = typeof item === 'object' ? (name ?? id ?? item) : item;
  return shorten(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), max);
}

/** The join rule of a group; empty where the definition is unknown. */
function ruleOf(entry: Step | null): { join: Join | null; over: string; weights: Map<string, number> } {
  if (entry && isFanOut(entry)) return { join: entry.fan_out.join, over: entry.fan_out.over, weights: new Map() };
  if (!entry || !isParallel(entry)) return { join: null, over: '', weights: new Map() };
  const { join, steps } = entry.parallel;
  return { join, over: '', weights: new Map(steps.map(({ name, weight }) => [name, weight])) };
}

/** The branches of a group and how they were joined. */
export function branchesView(node: PlanNode, at: { now: number; hrefOf: (step: string) => string }) {
  const { join, over, weights } = ruleOf(node.entry);
  const weighted = join === 'weighted_average';
  const { raw_response: raw, trust_report: report } = node.row ?? {};
  const threshold = report?.threshold;
  const placeOf = (name: string) =>
    node.kind === 'fan_out'
      ? { name: `#${indexOf(name)}`, item: itemText(raw?.items?.[indexOf(name)], 60) }
      : { name, item: '' };
  const rows = shownBranches(node).map(({ name, row }) => ({
    ...placeOf(name),
    href: row === null ? null : at.hrefOf(name),
    status: row === null ? statusLook('pending') : branchLook(node, row),
    trust: score(trustOf(row), threshold),
    weight: weighted ? `× ${weights.get(name) ?? 1}` : '',
    duration: row === null ? '–' : duration(secondsBetween(row.started_at, row.completed_at ?? at.now)),
  }));
  const left = node.branches.length - rows.length;
  return {
    join: join === null ? '' : JOINS[join],
    over,
    count: `${node.branches.length} ${node.branches.length === 1 ? 'branch' : 'branches'}`,
    rows,
    more: left > 0 ? `${left} more that completed; GET /runs/{id} has them all` : null,
  };
}

const trustOf = (row: ShownStep | null): number | null =>
  row === null ? null : (row.trust_report?.trust ?? row.effective_confidence);
