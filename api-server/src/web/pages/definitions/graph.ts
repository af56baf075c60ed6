import { isFanOut, isParallel, type Pipeline, type Step } from '@signalbox/crds';
import { shorten } from '../format.ts';
import { paths } from '../paths.ts';
import { graphView } from '../run/graph/graph.ts';
import type { Layout } from '../run/graph/layout.ts';
import { planOf } from '../run/graph/plan.ts';
import { executorLine } from './shapes.ts';

const ICONS: Record<string, string> = {
  human: 'approvals',
  pipeline: 'pipelines',
  webhook: 'arrow',
  parallel: 'branch',
  fan_out: 'branch',
};
const NOTE_FITS = 19;

/** The entries and branches of a pipeline by name: what they do, and the icon for it. */
function shapesIn(entries: readonly Step[]): Map<string, { icon: string; note: string }> {
  const shapes = new Map<string, { icon: string; note: string }>();
  const add = (name: string, executor: string, note: string) =>
    shapes.set(name, { icon: ICONS[executor] ?? 'agents', note: note.split(' · ').at(-1) ?? note });
  for (const entry of entries) {
    if (isParallel(entry)) {
      add(entry.name, 'parallel', entry.parallel.join.replaceAll('_', ' '));
      for (const branch of entry.parallel.steps) add(branch.name, branch.executor, executorLine(branch));
    } else if (isFanOut(entry)) add(entry.name, 'fan_out', `each ${entry.fan_out.as}: ${entry.fan_out.step.executor}`);
    else add(entry.name, entry.executor, executorLine(entry));
  }
  return shapes;
}

/** The definition as the graph of a run that has not begun; each box leads to the page of its step. */
export function definitionGraph(config: Pipeline, layout: Layout) {
  const at = { runStatus: 'queued', chosen: null, now: 0, hrefOf: paths.step, layout };
  const graph = graphView(planOf(config, []), at);
  if (graph === null) return null;
  const shapes = shapesIn(config.steps);
  const nodes = graph.nodes.map((node) => {
    const shape = shapes.get(node.name);
    const { icon = 'more', note = node.note } = shape ?? {};
    return {
      ...node,
      note: shorten(note, NOTE_FITS),
      spoken: `${node.label} ${shorten(note, NOTE_FITS)}`,
      title: `${node.name}: ${note}`,
      look: { icon, tone: 'quiet' },
      state: 'solid',
      href: shape === undefined ? null : paths.step(node.name),
    };
  });
  const edges = graph.edges.map((edge) => ({ ...edge, ghost: false }));
  const description = nodes.map(({ title }) => title).join(', ');
  return { ...graph, of: 'this pipeline', soft: false, nodes, edges, description };
}
