import { duration, score, secondsBetween, shorten } from '../../format.ts';
import { isActive, statusLook, stepLook, type StatusLook } from '../../status.ts';
import { firstByRank } from '../first-by-rank.ts';
import { branchLook, itemText, urgencyOf } from './branches.ts';
import { type Layout, NODE, type Places } from './layout.ts';
import type { PlanNode } from './plan.ts';
import type { ShownStep } from '../step/shown-step.ts';

/** Branches that a group shows, and fewer where the graph has more than a crowd. */
const SHOWN_BRANCHES = 12;
const CROWD = 100;

/** Boxes under each group; below 2 the group stands for its branches. */
function shownBranches(plan: PlanNode[]): number {
  const counts = plan.map(({ branches }) => Math.min(branches.length, SHOWN_BRANCHES)).filter((n) => n > 0);
  const all = counts.reduce((sum, n) => sum + n, 0);
  return all > CROWD ? Math.floor(CROWD / counts.length) : SHOWN_BRANCHES;
}

interface Box {
  name: string;
  label: string;
  kind: string;
  row: ShownStep | null;
  /** That of its status where absent. */
  look?: StatusLook;
  after: string[];
  /** Branches that it stands for. */
  folds: PlanNode['branches'];
}

/** Boxes with their predecessors: branches follow their group, an entry follows the last boxes of the entry before. */
function boxesOf(plan: PlanNode[]): Box[] {
  const boxes: Box[] = [];
  const most = shownBranches(plan);
  let ends: string[] = [];
  for (const node of plan) {
    const alone = most < 2 && node.branches.length > 0;
    const name = alone ? `${node.name} (${node.branches.length})` : node.name;
    const folds = alone ? node.branches : [];
    boxes.push({ name: node.name, label: name, kind: node.kind, row: node.row, after: ends, folds });
    ends = [node.name];
    if (alone || node.branches.length === 0) continue;
    const branches = branchBoxes(node, most);
    boxes.push(...branches);
    ends = branches.map((branch) => branch.name);
  }
  return boxes;
}

/** The branches of a group, or as many as have room beside a box for the others: those that failed and the like have it first. */
function branchBoxes(node: PlanNode, most: number): Box[] {
  const after = [node.name];
  const folded = node.branches.length > most;
  const shown = firstByRank(node.branches, folded ? most - 1 : most, (branch) => urgencyOf(node, branch));
  const boxes = shown.map(({ name, row }): Box => {
    const look = row ? branchLook(node, row) : undefined;
    return { name, label: labelOf(name, node), kind: 'branch', row, look, after, folds: [] };
  });
  if (!folded) return boxes;
  const kept = new Set(shown);
  const folds = node.branches.filter((branch) => !kept.has(branch));
  const more = { name: `${node.name}/more`, label: `${folds.length} more` };
  return [...boxes, { ...more, kind: 'more', row: null, after, folds }];
}

/** A fan-out branch is labelled with its index and item. */
function labelOf(name: string, { name: group, row }: PlanNode): string {
  if (!name.startsWith(`${group}/`)) return name;
  const index = name.slice(group.length + 1);
  const item = itemText(row?.raw_response?.items?.[Number(index)], 14);
  return `#${index} ${item}`.trimEnd();
}

function noteOf(box: Box, status: string, now: number): string {
  const { row } = box;
  if (box.kind === 'more') return 'listed below';
  if (row === null) return statusLook(status).word;
  if (status === 'skipped') return stepLook(row).word;
  const time = duration(secondsBetween(row.started_at, row.completed_at ?? now));
  const trust = row.trust_report?.trust ?? row.effective_confidence;
  return trust === null || trust === undefined ? time : `${score(trust, row.trust_report?.threshold)} · ${time}`;
}

const STATES: Record<string, string> = {
  running: 'live',
  skipped: 'dashed',
  pending: 'ghost',
  unreached: 'ghost',
};

/** The input of the layout. */
function shapesOf(boxes: Box[]) {
  const places = new Map(boxes.map((box, i) => [box.name, i]));
  const indexOf = (name: string | undefined) => places.get(name ?? '') ?? 0;
  return boxes.map((box) => ({
    after: box.after.map(indexOf),
    group: box.kind === 'branch' || box.kind === 'more' ? indexOf(box.after[0]) : null,
  }));
}

interface GraphInput {
  runStatus: string;
  chosen: string | null;
  now: number;
  hrefOf: (step: string) => string;
  layout: Layout;
}

/** Where icon and name stand in a box; a low one has no room for the note. */
const insideOf = (height: number) => {
  const low = height < NODE.height;
  return { low, iconY: height / 2 - 8, nameY: low ? height / 2 - 10 : 8 };
};

function nodeOf(box: Box, place: Places['centres'][number], at: GraphInput) {
  const status = box.row?.status ?? (isActive(at.runStatus) ? 'pending' : 'unreached');
  const look = box.look ?? (box.row === null ? statusLook(status) : stepLook(box.row));
  const label = shorten(box.label, 60);
  const note = noteOf(box, status, at.now);
  return {
    name: box.name,
    label,
    note,
    title: `${box.name}: ${look.word}`,
    spoken: `${label} ${note}, ${look.word}`,
    look,
    state: box.row?.waits ? 'solid' : (STATES[status] ?? 'solid'),
    chosen: [box, ...box.folds].some(({ name }) => name === at.chosen),
    href: box.row === null ? null : at.hrefOf(box.name),
    x: Math.round(place.x - NODE.width / 2),
    y: Math.round(place.y - place.height / 2),
    height: place.height,
    middle: place.height / 2,
    ...insideOf(place.height),
  };
}

/** The run as a graph from left to right, each box with the look of its step's status; null without a step. */
export function graphView(plan: PlanNode[], at: GraphInput) {
  if (plan.length === 0) return null;
  const boxes = boxesOf(plan);
  const { centres, blocks, width, height } = at.layout(shapesOf(boxes));
  const nodes = new Map(
    boxes.map((box, i) => [box.name, nodeOf(box, centres[i] ?? { x: 0, y: 0, height: NODE.height }, at)]),
  );
  // The edges of branches in a block are those of the block.
  const inBlock = new Map(blocks.flatMap((block) => block.members.map((i) => [boxes[i]?.name ?? '', block] as const)));
  const ends = boxes.flatMap((box) => box.after.map((from) => [from, box.name] as const));
  const endOf = (name: string): End | undefined => {
    const [node, block] = [nodes.get(name), inBlock.get(name)];
    if (block === undefined || node === undefined) return node && { ...node, width: NODE.width };
    return { ...block, middle: block.height / 2, state: node.state };
  };
  const edges = ends.map(([from, to]) => edgeOf(endOf(from), endOf(to)));
  return {
    of: 'this run',
    soft: true,
    width,
    height,
    nodes: [...nodes.values()],
    blocks: blocks.map(({ x, y, width: w, height: h }) => ({ x, y, width: w, height: h })),
    edges: once(edges.filter((edge) => edge !== null)),
    description: [...nodes.values()].map((node) => node.title).join(', '),
  };
}

/** The first of those with one path. */
const once = <T extends { path: string }>(edges: readonly T[]): T[] =>
  [...Map.groupBy(edges, ({ path }) => path).values()].flatMap(([first]) => first ?? []);

/** A box or a block as the end of an edge. */
type End = Pick<ReturnType<typeof nodeOf>, 'x' | 'y' | 'middle' | 'state'> & { width: number };

/** An S-curve from the right side of one to the left side of the next. */
function edgeOf(from: End | undefined, to: End | undefined) {
  if (from === undefined || to === undefined) return null;
  const [x1, y1] = [from.x + from.width, from.y + from.middle];
  const [x2, y2] = [to.x, to.y + to.middle];
  const bend = Math.round((x2 - x1) / 2);
  return { path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, ghost: to.state === 'ghost' };
}
