import { LRUCache } from 'lru-cache';
import { Graph, layout } from '@dagrejs/dagre';

export const NODE = { width: 168, height: 52 };
/** Boxes of a group with more than a few branches: one line, so that they stay on one screen. */
const LOW = 28;
const FEW_BRANCHES = 6;
const MARGIN = 12;
const KEPT = 100;

/** A box: the indexes of its predecessors, and the index of its group for branches. */
export interface Shape {
  after: number[];
  group: number | null;
}

export interface Places {
  width: number;
  height: number;
  /** Centres, in the order of the shapes. */
  centres: { x: number; y: number; height: number }[];
}

export type Layout = (shapes: Shape[]) => Places;

/**
 * Lays boxes out from left to right. A layout depends on the shapes alone, which runs of a pipeline share and a live
 * page requests repeatedly, so the last 100 layouts are cached.
 */
export function createLayout(): Layout {
  const kept = new LRUCache<string, Places, Shape[]>({
    max: KEPT,
    memoMethod: (_key, _old, { context }) => place(context),
  });
  return (shapes) => kept.memo(JSON.stringify(shapes), { context: shapes });
}

function place(shapes: Shape[]): Places {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 8, ranksep: 36, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  const heights = heightsOf(shapes);
  for (const [i, height] of heights.entries()) graph.setNode(String(i), { width: NODE.width, height });
  for (const [i, { after }] of shapes.entries()) for (const from of after) graph.setEdge(String(from), String(i));
  layout(graph);
  const centres = shapes.map((_shape, i) => {
    const { x, y } = graph.node(String(i)) as { x: number; y: number };
    return { x, y, height: heights[i] ?? NODE.height };
  });
  keepOrder(shapes, centres);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width: Math.ceil(width), height: Math.ceil(height), centres };
}

function heightsOf(shapes: Shape[]): number[] {
  const members = Map.groupBy(shapes, ({ group }) => group);
  return shapes.map(({ group }) =>
    group !== null && (members.get(group)?.length ?? 0) > FEW_BRANCHES ? LOW : NODE.height,
  );
}

/** Keeps the order of branches from top to bottom, which dagre does not guarantee. */
function keepOrder(shapes: Shape[], centres: Places['centres']): void {
  const branches = [...shapes.keys()].filter((i) => shapes[i]?.group !== null);
  for (const members of Map.groupBy(branches, (i) => shapes[i]?.group).values()) {
    const places = members.map((i) => centres[i]).filter((centre) => centre !== undefined);
    const heights = places.map(({ y }) => y).toSorted((a, b) => a - b);
    for (const [i, centre] of places.entries()) centre.y = heights[i] ?? centre.y;
  }
}
