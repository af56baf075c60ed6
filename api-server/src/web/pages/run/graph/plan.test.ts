import type { Pipeline } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { stepDetail, trustReport } from '../../fixtures/runs.ts';
import { branchesView } from './branches.ts';
import { graphView } from './graph.ts';
import { createLayout } from './layout.ts';
import { planOf } from './plan.ts';

const DEFINITION = {
  steps: [
    { name: 'triage', executor: 'gateway' },
    {
      name: 'gather',
      parallel: {
        steps: [
          { name: 'metrics', executor: 'gateway' },
          { name: 'changes', executor: 'external' },
        ],
      },
    },
    { name: 'each', fan_out: { over: 'steps.gather.output.items', step: { executor: 'gateway' } } },
    { name: 'close', executor: 'webhook' },
  ],
} as unknown as Pipeline;
const at = {
  runStatus: 'running',
  chosen: 'triage',
  now: Date.parse('2026-11-21T12:00:00Z'),
  hrefOf: (step: string) => `?step=${step}`,
  layout: createLayout(),
};
const shown = (plan: Parameters<typeof graphView>[0], chosen = at.chosen) => graphView(plan, { ...at, chosen })!;
const chosenOf = ({ nodes }: ReturnType<typeof shown>) => nodes.flatMap((node) => (node.chosen ? node.name : []));
const branch = (i: number) => stepDetail({ step_name: `each/${i}`, kind: 'fan_out_branch', step_index: 2 });

test('entries that have not run yet are planned boxes without a link', () => {
  const graph = shown(planOf(DEFINITION, [stepDetail()]));
  expect(graph.nodes.map(({ name, state, href }) => [name, state, href])).toEqual([
    ['triage', 'solid', '?step=triage'],
    ['gather', 'ghost', null],
    ['metrics', 'ghost', null],
    ['changes', 'ghost', null],
    ['each', 'ghost', null],
    ['close', 'ghost', null],
  ]);
});

test('the graph goes from left to right, branches stand in order under each other', () => {
  const graph = shown(planOf(DEFINITION, [stepDetail(), branch(0), branch(1), branch(2)]));
  const place = new Map(graph.nodes.map((node) => [node.name, node]));
  const columns = ['triage', 'gather', 'metrics', 'each', 'each/1', 'close'].map((name) => place.get(name)!.x);
  expect(columns).toEqual(columns.toSorted((a, b) => a - b));
  expect(new Set(['each/0', 'each/1', 'each/2'].map((name) => place.get(name)!.x)).size).toBe(1);
  expect(place.get('each/0')!.y).toBeLessThan(place.get('each/1')!.y);
  expect(
    graph.nodes.every(
      (node) => node.x >= 0 && node.x + 168 <= graph.width && node.y >= 0 && node.y + 52 <= graph.height,
    ),
  ).toBe(true);
});

test('more than twelve branches fold into one box that says how many', () => {
  const rows = planOf(
    DEFINITION,
    Array.from({ length: 20 }, (_, i) => branch(i)),
  );
  const graph = shown(rows);
  const branches = graph.nodes.filter((node) => node.name.startsWith('each/'));
  expect(branches).toHaveLength(12);
  expect(branches.at(-1)!.label).toBe('9 more');
  expect(chosenOf(shown(rows, 'each/5'))).toEqual(['each/5']);
  expect(chosenOf(shown(rows, 'each/19'))).toEqual(['each/more']);
});

const MISSED = { trust: 0.3, threshold: 0.75, passed: false, action: 'escalate' } as const;
const escalated = (rows: ReturnType<typeof branch>[], missed: object = MISSED) =>
  planOf(DEFINITION, [
    stepDetail({
      step_name: 'each',
      kind: 'fan_out',
      step_index: 2,
      status: 'escalated',
      trust_report: trustReport(missed),
    }),
    ...rows,
  ]);
const withTrust = (i: number, trust: number): ReturnType<typeof branch> => ({
  ...branch(i),
  trust_report: null,
  effective_confidence: trust,
});

test('branches that failed or are below the threshold are among those that stand in the graph, and first in the list', () => {
  const rows = Array.from({ length: 80 }, (_, i) => withTrust(i, i === 37 || i === 70 ? 0.3 : 0.9));
  rows[65] = { ...branch(65), status: 'failed' };
  const plan = escalated(rows);
  const boxes = shown(plan).nodes.filter(({ name }) => name.startsWith('each/'));
  expect(boxes.map(({ name }) => name.slice(5))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 37, 65, 70, 'more'].map(String));
  expect(boxes[8]).toMatchObject({ title: 'each/37: Below 0.75', look: { tone: 'wait' } });
  const { rows: listed, more } = branchesView(
    plan.find(({ name }) => name === 'each')!,
    at,
  );
  expect(listed.slice(0, 5).map(({ name, status }) => `${name} ${status.word}`)).toEqual([
    '#65 Failed',
    '#37 Below 0.75',
    '#70 Below 0.75',
    '#0 Completed',
    '#1 Completed',
  ]);
  expect([listed.length, more]).toEqual([60, '20 more that completed; GET /runs/{id} has them all']);
});

test('a branch below the threshold that its group passed is as any other', () => {
  const rows = [withTrust(0, 0.9), withTrust(1, 0.3)];
  const plan = escalated(rows, { ...MISSED, trust: 0.9, passed: true, action: 'pass' });
  const { rows: listed } = branchesView(
    plan.find(({ name }) => name === 'each')!,
    at,
  );
  expect(listed.map(({ name, status }) => `${name} ${status.word}`)).toEqual(['#0 Completed', '#1 Completed']);
});

test('many branches stand in columns of boxes of one line, so that the graph stays low', () => {
  const heightsOf = (count: number) => {
    const graph = shown(
      planOf(
        DEFINITION,
        Array.from({ length: count }, (_, i) => branch(i)),
      ),
    );
    const boxes = graph.nodes.filter((node) => node.name.startsWith('each/'));
    expect(graph.nodes.find(({ name }) => name === 'triage')).toMatchObject({ height: 52, low: false });
    return { graph: graph.height, box: boxes[0]?.height };
  };
  expect(heightsOf(4)).toEqual({ graph: 256, box: 52 });
  expect(heightsOf(5).box).toBe(28);
  expect(heightsOf(200).graph).toBeLessThanOrEqual(180);
});

test('branches in columns stand in order beside each other, and their block has the edges', () => {
  const ROWS = 4;
  const branches = Array.from({ length: 12 }, (_, i) => branch(i));
  const graph = shown(planOf(DEFINITION, [stepDetail(), ...branches]));
  const boxes = graph.nodes.filter(({ name }) => name.startsWith('each/'));
  expect(new Set(boxes.map(({ x }) => x)).size).toBe(3);
  for (const [i, { x, y }] of boxes.entries()) {
    if (i % ROWS > 0) expect(y).toBeGreaterThanOrEqual(boxes[i - 1]!.y + 28);
    if (i >= ROWS) expect(x).toBeGreaterThanOrEqual(boxes[i - ROWS]!.x + 168);
  }
  const [block] = graph.blocks;
  const isInside = ({ x, y }: (typeof boxes)[number]) =>
    x >= block!.x && x + 168 <= block!.x + block!.width && y >= block!.y && y + 28 <= block!.y + block!.height;
  expect(boxes.every(isInside)).toBe(true);
  // Between the entries five, one into the block and one out of it.
  expect(graph.edges).toHaveLength(7);
});

test('a crowd of branches folds into their groups, which say how many they are', () => {
  const steps = Array.from({ length: 64 }, (_, i) =>
    stepDetail({ step_name: `each${i}`, kind: 'parallel', step_index: i }),
  );
  const branches = steps.flatMap(({ step_index }) =>
    Array.from({ length: 16 }, (_, k) => stepDetail({ step_name: `b${step_index}-${k}`, kind: 'branch', step_index })),
  );
  const graph = shown(planOf(null, [...steps, ...branches]), 'b63-15');
  const { nodes } = graph;
  expect(nodes.length).toBe(64);
  expect(nodes[0]!.label).toBe('each0 (16)');
  expect(chosenOf(graph)).toEqual(['each63']);
});

test('without a definition the rows alone make the graph', () => {
  const rows = [
    stepDetail(),
    stepDetail({ step_name: 'gather', kind: 'parallel', step_index: 1 }),
    stepDetail({ step_name: 'metrics', kind: 'branch', step_index: 1 }),
  ];
  expect(planOf(null, rows).map((node) => [node.name, node.branches.map(({ name }) => name)])).toEqual([
    ['triage', []],
    ['gather', ['metrics']],
  ]);
});

test('a run whose definition is not stored any more is drawn from its rows', () => {
  expect(() => graphView(planOf(null, [stepDetail()]), at)).not.toThrow();
});

test.each([
  ['skipped', 'dashed', 'quiet'],
  ['running', 'live', 'live'],
  ['escalated', 'solid', 'escalated'],
  ['failed', 'solid', 'bad'],
] as const)('a %s step is %s and %s', (status, state, tone) => {
  const [node] = shown(planOf(null, [stepDetail({ status })])).nodes;
  expect([node!.state, node!.look.tone]).toEqual([state, tone]);
});

test('a run without a definition and without steps has no graph', () => {
  expect(graphView(planOf(null, []), at)).toBeNull();
});

test('many rows without a definition are planned in no time that grows with their square', () => {
  const rows = Array.from({ length: 8000 }, (_, i) => stepDetail({ step_name: `look-${i}`, step_index: i % 64 }));
  const before = process.threadCpuUsage();
  const plan = planOf(null, [...rows, branch(0)]);
  expect(process.threadCpuUsage(before).user).toBeLessThan(200_000);
  expect(plan.filter(({ branches }) => branches.length === 1)).toHaveLength(125);
});
