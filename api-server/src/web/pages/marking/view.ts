import { exportLinks } from '../exports/links.ts';
import { age, exactTime } from '../format.ts';
import type { MarkingQueue, UnmarkedLine } from '../../../service/views/analytics/marking.ts';
import { select } from '../list-filters.ts';
import { paths } from '../paths.ts';
import { jsonTree } from '../run/step/json-tree.ts';
import { markView } from '../run/step/mark.ts';
import { runTitle, trustBar } from '../runs/row.ts';
import { statusLook } from '../status.ts';

/** Of one answer: a page has twenty. */
const MOST_ROWS = 60;

export const STAGES = ['production', 'testing'] as const;

export interface MarkingFilters {
  pipeline?: string;
  stage?: (typeof STAGES)[number];
  step?: string;
}

export interface MarkingInput {
  page: MarkingQueue;
  /** Whether an export has a line. */
  marked: boolean;
  filters: MarkingFilters;
  pipelines: string[];
  operator: boolean;
  now: number;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined;

/** The filters of the query; unknown keys and values are ignored. */
export function readMarkingFilters(query: Record<string, unknown>): MarkingFilters {
  const stage = STAGES.find((one) => one === query['stage']);
  const [pipeline, step] = [text(query['pipeline']), text(query['step'])];
  return {
    ...(pipeline !== undefined && { pipeline }),
    ...(stage !== undefined && { stage }),
    ...(step !== undefined && { step }),
  };
}

/** Answers without a mark, with what a person needs to judge them. */
export function markingView({ page, marked, filters, pipelines, operator, now }: MarkingInput) {
  const here = paths.marking({ ...filters });
  return {
    action: paths.marking(),
    runs: paths.runs(),
    here,
    operator,
    filtered: Object.keys(filters).length > 0,
    selects: [
      select('pipeline', 'Pipeline', { known: pipelines, chosen: filters.pipeline }),
      select('stage', 'Stage', { known: STAGES, chosen: filters.stage }),
    ],
    step:
      filters.step === undefined
        ? null
        : { name: filters.step, without: paths.marking({ ...filters, step: undefined }) },
    lead: leadOf(page),
    exports: marked ? exportLinks(['marks'], { pipeline: filters.pipeline }) : [],
    more: page.more,
    rows: page.steps.map((line) => answer(line, { here, operator, now })),
  };
}

function leadOf({ steps, more }: MarkingQueue): string {
  if (steps.length === 0) return '';
  if (more) return `The newest ${steps.length}; others follow as these are marked`;
  return `${steps.length} ${steps.length === 1 ? 'result' : 'results'} to mark`;
}

function answer(line: UnmarkedLine, { here, operator, now }: { here: string; operator: boolean; now: number }) {
  return {
    id: `answer-${line.run_id}-${line.step_name}`,
    href: paths.run(line.run_id, { step: line.step_name }),
    markPath: paths.runFeedback(line.run_id),
    pipeline: line.pipeline_name,
    step: line.step_name,
    agent: line.agent,
    testing: line.stage === 'testing',
    status: statusLook(line.status, null),
    trust: trustBar(line.trust, line.threshold, false),
    sentence: line.sentence,
    alert: runTitle({ summary: line.run_summary, source: line.source }),
    summary: line.summary,
    tree: line.output === null ? null : jsonTree(line.output, { nodes: MOST_ROWS }),
    mark: { ...markView({ mark: null, step: line.step_name, operator, action: paths.runFeedback(line.run_id) }), here },
    since: line.completed_at,
    exact: exactTime(line.completed_at),
    age: age(line.completed_at, now),
  };
}
