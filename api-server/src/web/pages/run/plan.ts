import type { ShownStep } from './shown-step.ts';

/** One box of the graph: what the definition plans and, where it ran, the row of what happened. */
export interface PlanNode {
  name: string;
  kind: 'step' | 'parallel' | 'fan_out';
  executor: string;
  row: ShownStep | null;
  /** What the definition says of it; null for a row that it does not name. */
  entry: Record<string, unknown> | null;
  branches: { name: string; executor: string; row: ShownStep | null }[];
}

type Entry = Record<string, unknown>;
const isObject = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

function plannedBranches(entry: Entry): { name: string; executor: string }[] {
  const group = entry['parallel'];
  const steps = isObject(group) && Array.isArray(group['steps']) ? group['steps'].filter(isObject) : [];
  return steps.map((step) => ({ name: textOf(step['name'], '?'), executor: textOf(step['executor'], 'gateway') }));
}

const indexOf = ({ step_name }: ShownStep): number => Number(step_name.slice(step_name.lastIndexOf('/') + 1));
const byIndex = (a: ShownStep, b: ShownStep): number => indexOf(a) - indexOf(b);

function nodeOf(entry: Entry, rows: Map<string, ShownStep>): PlanNode {
  const name = textOf(entry['name'], '?');
  const kind = isObject(entry['parallel']) ? 'parallel' : isObject(entry['fan_out']) ? 'fan_out' : 'step';
  const fanned = [...rows.values()].filter((row) => row.step_name.startsWith(`${name}/`));
  const branches =
    kind === 'fan_out'
      ? fanned.toSorted(byIndex).map((row) => ({ name: row.step_name, executor: row.executor, row }))
      : plannedBranches(entry).map((branch) => ({ ...branch, row: rows.get(branch.name) ?? null }));
  const executor = textOf(entry['executor'], 'gateway');
  return { name, kind, executor, row: rows.get(name) ?? null, entry, branches };
}

/** Without a definition the rows tell enough: a group row, and branch rows of the same index after it. */
function fromRows(rows: ShownStep[]): PlanNode[] {
  const tops = rows.filter((row) => row.kind !== 'branch' && row.kind !== 'fan_out_branch');
  return tops.map((row) => ({
    name: row.step_name,
    kind: row.kind === 'parallel' || row.kind === 'fan_out' ? row.kind : 'step',
    executor: row.executor,
    row,
    entry: null,
    branches: rows
      .filter((other) => other !== row && other.step_index === row.step_index && !tops.includes(other))
      .map((branch) => ({ name: branch.step_name, executor: branch.executor, row: branch })),
  }));
}

/** The boxes of a run in order: every planned entry, then rows that the definition does not name. */
export function planOf(definition: Record<string, unknown> | null, steps: ShownStep[]): PlanNode[] {
  const rows = new Map(steps.map((step) => [step.step_name, step]));
  const entries = Array.isArray(definition?.['steps']) ? definition['steps'].filter(isObject) : [];
  const nodes = entries.map((entry) => nodeOf(entry, rows));
  const placed = new Set(nodes.flatMap((node) => [node.name, ...node.branches.map((branch) => branch.name)]));
  return [...nodes, ...fromRows(steps.filter((step) => !placed.has(step.step_name)))];
}
