import { Graph, layout } from '@dagrejs/dagre';
import { duration, score, secondsBetween, shorten } from '../format.ts';
import { isActive, statusLook, type StatusLook } from '../status.ts';
import type { StepDetail } from '../wire.ts';
import type { PlanNode } from './plan.ts';

const NODE = { width: 168, height: 52 };
const MARGIN = 12;
const SHOWN_BRANCHES = 12;

export interface GraphNode {
  name: string;
  label: string;
  note: string;
  title: string;
  look: StatusLook;
  state: 'live' | 'dashed' | 'ghost' | 'solid';
  chosen: boolean;
  href: string | null;
  x: number;
  y: number;
}

export interface GraphView {
  width: number;
  height: number;
  nodes: GraphNode[];
  edges: { path: string; ghost: boolean }[];
  description: string;
}

interface Box {
  name: string;
  label: string;
  kind: string;
  row: StepDetail | null;
  after: string[];
}

/** Boxes with what they follow: branches follow their group, the next entry follows the last boxes of the one before. */
function boxesOf(plan: PlanNode[]): Box[] {
  const boxes: Box[] = [];
  let ends: string[] = [];
  for (const node of plan) {
    boxes.push({ name: node.name, label: node.name, kind: node.kind, row: node.row, after: ends });
    const folded = node.branches.length > SHOWN_BRANCHES;
    const shown = folded ? node.branches.slice(0, SHOWN_BRANCHES - 1) : node.branches;
    for (const branch of shown) {
      const label = branch.name.startsWith(`${node.name}/`)
        ? `#${branch.name.slice(node.name.length + 1)}`
        : branch.name;
      boxes.push({ name: branch.name, label, kind: 'branch', row: branch.row, after: [node.name] });
    }
    ends = shown.length === 0 ? [node.name] : shown.map((branch) => branch.name);
    if (folded) {
      const name = `${node.name}/more`;
      boxes.push({
        name,
        label: `${node.branches.length - shown.length} more`,
        kind: 'more',
        row: null,
        after: [node.name],
      });
      ends.push(name);
    }
  }
  return boxes;
}

function noteOf(box: Box, status: string, now: number): string {
  const { row } = box;
  if (box.kind === 'more') return 'listed below';
  if (row === null || status === 'skipped') return statusLook(status).word;
  const time = duration(secondsBetween(row.started_at, row.completed_at ?? now));
  const trust = row.trust_report?.trust ?? row.effective_confidence;
  return trust === null || trust === undefined ? time : `${score(trust, row.trust_report?.threshold)} · ${time}`;
}

const STATES: Record<string, GraphNode['state']> = {
  running: 'live',
  skipped: 'dashed',
  pending: 'ghost',
  unreached: 'ghost',
};

/** The run as a graph from left to right: places from dagre, looks from each step's status (Design 10). */
export function graphView(
  plan: PlanNode[],
  at: { runStatus: string; chosen: string | null; now: number; hrefOf: (step: string) => string },
): GraphView {
  const boxes = boxesOf(plan);
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 8, ranksep: 36, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.name, { ...NODE });
  for (const box of boxes) for (const from of box.after) graph.setEdge(from, box.name);
  layout(graph);
  const heights = inOrder(boxes, (name) => (graph.node(name) as { y: number }).y);

  const absent = isActive(at.runStatus) ? 'pending' : 'unreached';
  const nodes = boxes.map((box): GraphNode => {
    const status = box.row?.status ?? absent;
    const look = statusLook(status);
    const { x } = graph.node(box.name) as { x: number };
    return {
      name: box.name,
      label: shorten(box.label, 18),
      note: noteOf(box, status, at.now),
      title: `${box.name}: ${look.word}`,
      look,
      state: STATES[status] ?? 'solid',
      chosen: box.name === at.chosen,
      href: box.row === null ? null : at.hrefOf(box.name),
      x: Math.round(x - NODE.width / 2),
      y: Math.round(heights.get(box.name)! - NODE.height / 2),
    };
  });
  const size = graph.graph() as { width?: number; height?: number };
  const ghosts = new Set(nodes.filter((node) => node.state === 'ghost').map((node) => node.name));
  const places = new Map(nodes.map((node) => [node.name, node]));
  return {
    width: Math.ceil(size.width ?? 0),
    height: Math.ceil(size.height ?? 0),
    nodes,
    edges: boxes.flatMap((box) =>
      box.after.map((from) => ({ path: curve(places.get(from)!, places.get(box.name)!), ghost: ghosts.has(box.name) })),
    ),
    description: nodes.map((node) => node.title).join(', '),
  };
}

/** The branches of a group keep their order from top to bottom; dagre only promises few crossings. */
function inOrder(boxes: Box[], heightOf: (name: string) => number): Map<string, number> {
  const heights = new Map(boxes.map((box) => [box.name, heightOf(box.name)]));
  const groups = Map.groupBy(
    boxes.filter((box) => box.kind === 'branch' || box.kind === 'more'),
    (box) => box.after[0],
  );
  for (const group of groups.values()) {
    const sorted = group.map((box) => heights.get(box.name)!).toSorted((a, b) => a - b);
    for (const [i, box] of group.entries()) heights.set(box.name, sorted[i]!);
  }
  return heights;
}

/** A calm S from the right side of one box to the left side of the next. */
function curve(from: GraphNode, to: GraphNode): string {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  const bend = Math.round((x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
