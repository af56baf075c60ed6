import { isFanOut, isParallel, type Pipeline, type Step } from '@signalbox/crds';
import type { ShownStep } from '../step/shown-step.ts';

/** A node of the graph: an entry of the definition and, once it ran, its row. */
export interface PlanNode {
  name: string;
  kind: 'step' | 'parallel' | 'fan_out';
  executor: string;
  row: ShownStep | null;
  /** The entry of the definition; null for a row without one. */
  entry: Step | null;
  branches: { name: string; executor: string; row: ShownStep | null }[];
}

const indexOf = ({ step_name }: ShownStep): number => Number(step_name.slice(step_name.lastIndexOf('/') + 1));
const byIndex = (a: ShownStep, b: ShownStep): number => indexOf(a) - indexOf(b);

interface Rows {
  byName: ReadonlyMap<string, ShownStep>;
  /** The branches of a fan-out have the name of their group before the slash. */
  byFamily: ReadonlyMap<string, readonly ShownStep[]>;
}

function nodeOf(entry: Step, { byName: rows, byFamily }: Rows): PlanNode {
  const { name } = entry;
  const node = { name, row: rows.get(name) ?? null, entry };
  if (isParallel(entry)) {
    const { steps } = entry.parallel;
    const branches = steps.map((branch) => ({
      name: branch.name,
      executor: branch.executor,
      row: rows.get(branch.name) ?? null,
    }));
    return { ...node, kind: 'parallel', executor: 'parallel', branches };
  }
  if (isFanOut(entry)) {
    const fanned = (byFamily.get(name) ?? []).filter(({ step_name }) => step_name !== name).toSorted(byIndex);
    const branches = fanned.map((row) => ({ name: row.step_name, executor: row.executor, row }));
    return { ...node, kind: 'fan_out', executor: 'fan_out', branches };
  }
  return { ...node, kind: 'step', executor: entry.executor, branches: [] };
}

/** Nodes from rows alone: a group row, and the branch rows with the same index. */
function fromRows(rows: ShownStep[]): PlanNode[] {
  const isTop = ({ kind }: ShownStep): boolean => kind !== 'branch' && kind !== 'fan_out_branch';
  const branches = Map.groupBy(
    rows.filter((row) => !isTop(row)),
    (row) => row.step_index,
  );
  return rows.filter(isTop).map((row) => ({
    name: row.step_name,
    kind: row.kind === 'parallel' || row.kind === 'fan_out' ? row.kind : 'step',
    executor: row.executor,
    row,
    entry: null,
    branches: (branches.get(row.step_index) ?? []).map((branch) => ({
      name: branch.step_name,
      executor: branch.executor,
      row: branch,
    })),
  }));
}

/** The nodes of a run in order: entries of the definition, then rows without an entry. */
export function planOf(definition: Pick<Pipeline, 'steps'> | null, steps: ShownStep[]): PlanNode[] {
  const rows = {
    byName: new Map(steps.map((step) => [step.step_name, step])),
    byFamily: Map.groupBy(steps, ({ step_name }) => step_name.split('/', 1)[0] ?? ''),
  };
  const nodes = (definition?.steps ?? []).map((entry) => nodeOf(entry, rows));
  const placed = new Set(nodes.flatMap((node) => [node.name, ...node.branches.map((branch) => branch.name)]));
  return [...nodes, ...fromRows(steps.filter((step) => !placed.has(step.step_name)))];
}
