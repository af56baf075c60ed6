import { duration, score, secondsBetween, shorten } from '../format.ts';
import { stepLook, statusLook } from '../status.ts';
import type { PlanNode } from './plan.ts';
import type { ShownStep } from './shown-step.ts';

const JOINS: Record<string, string> = {
  all_must_pass: 'all must pass: the lowest trust counts',
  any_must_pass: 'any may pass: the highest trust counts',
  weighted_average: 'weighted average of their trust',
};
const SHOWN = 60;

type Entry = Record<string, unknown>;
const object = (value: unknown): Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : {};

/** An item of a fan-out in a few characters. */
export function itemText(item: unknown, max: number): string {
  if (item === undefined || item === null) return '';
  const named = object(item)['name'] ?? object(item)['id'];
  const value = typeof item === 'object' ? (named ?? item) : item;
  return shorten(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), max);
}

function weights(entry: Entry): Map<string, number> {
  const steps = object(entry['parallel'])['steps'];
  const known = Array.isArray(steps) ? steps.map(object) : [];
  return new Map(known.map(({ name, weight }) => [String(name), typeof weight === 'number' ? weight : 1]));
}

/** How a group joined its branches, and every branch. */
export function branchesView(node: PlanNode, at: { now: number; hrefOf: (step: string) => string }) {
  const entry = node.entry ?? {};
  const rule = object(entry[node.kind]);
  const weight = weights(entry);
  const weighted = rule['join'] === 'weighted_average';
  const items = node.row?.raw_response?.items ?? [];
  const rows = node.branches.slice(0, SHOWN).map(({ name, row }, i) => ({
    name: node.kind === 'fan_out' ? `#${name.slice(node.name.length + 1)}` : name,
    item: node.kind === 'fan_out' ? itemText(items[i], 60) : '',
    href: row === null ? null : at.hrefOf(name),
    status: row === null ? statusLook('pending') : stepLook(row),
    trust: score(trustOf(row)),
    weight: weighted ? `× ${weight.get(name) ?? 1}` : '',
    duration: row === null ? '–' : duration(secondsBetween(row.started_at, row.completed_at ?? at.now)),
  }));
  const left = node.branches.length - rows.length;
  return {
    join: JOINS[String(rule['join'])] ?? '',
    over: typeof rule['over'] === 'string' ? rule['over'] : '',
    count: `${node.branches.length} ${node.branches.length === 1 ? 'branch' : 'branches'}`,
    rows,
    more: left > 0 ? `${left} more in the list of steps` : null,
  };
}

const trustOf = (row: ShownStep | null): number | null =>
  row === null ? null : (row.trust_report?.trust ?? row.effective_confidence);
