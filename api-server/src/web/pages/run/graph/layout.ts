import { LRUCache } from 'lru-cache';
import { Graph, layout } from '@dagrejs/dagre';

export const NODE = { width: 168, height: 52 };
const MARGIN = 12;
const GAP = 8;
const KEPT = 100;
/**
 * More branches than this stand in a block of several columns with boxes of one line: one column of them would leave the rest of the
 * graph a strip in an empty page.
 */
const FEW_BRANCHES = 4;
const LOW = 28;
const MOST_ROWS = 4;

/** A box: the indexes of its predecessors, and the index of its group for branches. */
export interface Shape {
  after: number[];
  group: number | null;
}

/** Branches that stand together; `x` and `y` are its left and upper edge. */
export interface Block {
  members: number[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Places {
  width: number;
  height: number;
  /** Centres, in the order of the shapes. */
  centres: { x: number; y: number; height: number }[];
  blocks: Block[];
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
  const grids = gridsOf(shapes);
  const placeOf = (i: number): string => (grids.has(shapes[i]?.group ?? -1) ? `block ${shapes[i]?.group}` : String(i));
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: GAP, ranksep: 36, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const i of shapes.keys()) graph.setNode(placeOf(i), { ...(grids.get(shapes[i]?.group ?? -1)?.size ?? NODE) });
  for (const [i, { after }] of shapes.entries()) for (const from of after) graph.setEdge(placeOf(from), placeOf(i));
  layout(graph);
  const centres = shapes.map((_shape, i) => {
    const { x, y } = graph.node(placeOf(i)) as { x: number; y: number };
    return { x, y, height: NODE.height };
  });
  keepOrder(shapes, centres);
  const blocks = [...grids.values()].map((grid) => fill(grid, centres));
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width: Math.ceil(width), height: Math.ceil(height), centres, blocks };
}

interface Grid {
  members: number[];
  rows: number;
  size: { width: number; height: number };
}

/** The groups whose branches stand in a block, by the index of the group. */
function gridsOf(shapes: Shape[]): Map<number, Grid> {
  const branches = [...shapes.keys()].filter((i) => shapes[i]?.group !== null);
  const groups = Map.groupBy(branches, (i) => shapes[i]?.group ?? -1);
  return new Map(
    [...groups].filter(([, { length }]) => length > FEW_BRANCHES).map(([group, members]) => [group, gridOf(members)]),
  );
}

const along = (n: number, size: number): number => n * (size + GAP) + GAP;

function gridOf(members: number[]): Grid {
  const columns = Math.ceil(members.length / MOST_ROWS);
  const rows = Math.ceil(members.length / columns);
  return { members, rows, size: { width: along(columns, NODE.width), height: along(rows, LOW) } };
}

/** Puts the branches of a block in columns, from top to bottom. */
function fill({ members, rows, size }: Grid, centres: Places['centres']): Block {
  const middle = centres[members[0] ?? 0] ?? { x: 0, y: 0 };
  const [x, y] = [Math.round(middle.x - size.width / 2), Math.round(middle.y - size.height / 2)];
  for (const [at, i] of members.entries()) {
    const [column, row] = [Math.floor(at / rows), at % rows];
    centres[i] = { x: x + along(column, NODE.width) + NODE.width / 2, y: y + along(row, LOW) + LOW / 2, height: LOW };
  }
  return { members, x, y, ...size };
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
