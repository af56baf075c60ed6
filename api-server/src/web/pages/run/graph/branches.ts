import { isFanOut, isParallel, type Join, type Step } from '@signalbox/crds';
import { duration, score, secondsBetween, shorten } from '../../format.ts';
import { stepLook, statusLook } from '../../status.ts';
import type { PlanNode } from './plan.ts';
import type { ShownStep } from '../step/shown-step.ts';

const JOINS: Record<Join, string> = {
  all_must_pass: 'all must pass: the lowest trust counts',
  any_must_pass: 'any may pass: the highest trust counts',
  weighted_average: 'weighted average of their trust',
};

const SHOWN = 60;

/** In their order; where there are too many, those that did not complete go before others. */
function shownBranches({ branches }: PlanNode) {
  const done = ({ row }: PlanNode['branches'][number]) => Number(row?.status === 'completed');
  const kept = new Set(branches.toSorted((a, b) => done(a) - done(b)).slice(0, SHOWN));
  return [...branches.entries()].filter(([, branch]) => kept.has(branch));
}

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
  const items = node.row?.raw_response?.items ?? [];
  const rows = shownBranches(node).map(([i, { name, row }]) => ({
    name: node.kind === 'fan_out' ? `#${name.slice(node.name.length + 1)}` : name,
    item: node.kind === 'fan_out' ? itemText(items[i], 60) : '',
    href: row === null ? null : at.hrefOf(name),
    status: row === null ? statusLook('pending') : stepLook(row),
    trust: score(trustOf(row)),
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
