import type { Cost } from './measure.ts';
import type { Question } from './questions.ts';

/** What was measured on a history of one size. */
export interface Column {
  steps: number;
  bytesARun: number;
  costs: Map<string, Cost>;
}

interface Row {
  question: Question;
  costs: (Cost | undefined)[];
  /** CPU on the largest history against the smallest. */
  ratio: number | null;
  /** Null where no column is of the size that the goals are for. */
  missed: string[] | null;
}

const GOAL_STEPS = 1_000_000;
/** For ten times the history. */
const MAX_RATIO = 1.3;
const MAX_WHOLE_RATIO = 2;
/** Less counts as this much, because a ratio of it is noise. */
const NOISE_MS = 5;
const MAX_LOOP_MS = 20;

export function rowOf(question: Question, columns: readonly Column[]): Row {
  const costs = columns.map((column) => column.costs.get(question.what));
  const ratio = growth(costs[0], costs.at(-1));
  const atGoal = columns.find(({ steps }) => steps === GOAL_STEPS)?.costs.get(question.what);
  const mayGrow = question.whole === true ? MAX_WHOLE_RATIO : MAX_RATIO;
  const grown = ratio !== null && ratio > mayGrow ? ['ratio'] : [];
  const missed = atGoal ? [...goalsMissed(question, atGoal), ...grown] : null;
  return { question, costs, ratio, missed: missed ?? (grown.length > 0 ? grown : null) };
}

/** Null where there is nothing to compare. */
function growth(small: Cost | undefined, large: Cost | undefined): number | null {
  if (!small || !large || small === large) return null;
  return Math.max(large.cpu, NOISE_MS) / Math.max(small.cpu, NOISE_MS);
}

function goalsMissed(question: Question, { cpu, wall, loop, bytes }: Cost): string[] {
  const { goal = Infinity, wallGoal = Infinity, mostBytes = Infinity } = question;
  const limits = [
    ['CPU', cpu, goal],
    ['wall', wall, wallGoal],
    ['loop', loop, MAX_LOOP_MS],
    ['bytes', bytes, mostBytes],
  ] as const;
  return limits.filter(([, value, most]) => value > most).map(([name]) => name);
}

const shown = (value: number | undefined): string => (value === undefined ? '-' : value.toFixed(value < 10 ? 1 : 0));

export function print(columns: readonly Column[], rows: readonly Row[]): void {
  const heads = columns.flatMap(({ steps }) => [`${steps / 1000}k CPU`, 'loop', 'wall', 'first']);
  const table = [['question (ms)', ...heads, 'ratio', 'goal at 1000k', ''], ...rows.map(cellsOf)];
  const widths = (table[0] ?? []).map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  const lines = table.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  console.log(`\n${lines.map((line) => line.trimEnd()).join('\n')}`);
  for (const { steps, bytesARun } of columns) {
    const kilobytes = (bytesARun / 1024).toFixed(1);
    console.log(`${steps.toLocaleString('en')} steps: ${kilobytes} KB on disk for a run of up to five steps`);
  }
}

function cellsOf({ question: { what, goal, wallGoal }, costs, ratio, missed }: Row): string[] {
  const cells = costs.flatMap((cost) => [cost?.cpu, cost?.loop, cost?.wall, cost?.first].map(shown));
  const goals = [goal, wallGoal && `${wallGoal} wall`].filter(Boolean).join(', ');
  const verdict = missed === null ? '' : missed.length === 0 ? 'ok' : `MISSED ${missed.join(', ')}`;
  return [what, ...cells, ratio === null ? '-' : `${ratio.toFixed(1)}x`, goals, verdict];
}
