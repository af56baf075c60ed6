import type { Insights, PipelineStatistics } from '../../../service/views/analytics/statistics.ts';
import type { StatisticsQuery } from '../../../service/statistics/statistics.ts';
import { count, duration, percent } from '../format.ts';
import { paths } from '../paths.ts';
import type { FirstRun } from '../runs/first-run.ts';
import { plural } from '../runs/row.ts';
import { charts } from './charts.ts';
import { accuracyOf, amount, cost, figureTiles, labelsText, unpricedNote } from './figures.ts';
import { foldOf, groupsOf } from './groups.ts';
import { beforeText, choices, insightsPath, narrowing, rangeText } from './filters.ts';

export interface InsightsInput {
  insights: Insights;
  query: StatisticsQuery;
  /** Names that have a page. */
  loaded: ReadonlySet<string>;
  first: FirstRun;
}

/** `/ui/insights`: figures against the window before, charts over time, and every pipeline. */
export function insightsView({ insights, query, loaded, first }: InsightsInput) {
  const { now, before, points, pipelines } = insights;
  const from = points[0]?.from;
  const since: Record<string, string> =
    query.timeRange === 'all' || from === undefined ? {} : { since: new Date(from).toISOString() };
  const { timeRange: _, stage: asked, ...names } = query;
  const scope: Record<string, string> = { ...names, ...(asked === 'all' ? {} : { stage: asked }), ...since };
  const links = {
    runs: paths.runs(scope),
    failed: paths.runs({ status: 'failed,aborted,escalated,stopped', ...scope }),
  };
  const stage = query.stage === 'all' ? '' : `${query.stage} `;
  return {
    choices: choices(query),
    narrowing: narrowing(query),
    lead:
      now.runs_total === 0
        ? `No ${stage}run ${rangeText(query)}.`
        : `${plural(pipelines.length, 'pipeline')}, ${count(now.runs_total)} ${stage}${now.runs_total === 1 ? 'run' : 'runs'} ${rangeText(query)}. Times are UTC.`,
    empty: now.runs_total === 0 ? emptyState(query, first) : null,
    tiles: figureTiles(now, before, { then: beforeText(query), links }),
    charts: charts(insights, query),
    rows: pipelines
      .toSorted((a, b) => b.runs_total - a.runs_total)
      .slice(0, SHOWN)
      .map((stats) => pipelineRow(stats, { scope, loaded })),
    folds: foldOf(Math.min(SHOWN, pipelines.length)),
    more: pipelines.length > SHOWN ? plural(pipelines.length - SHOWN, 'pipeline') : null,
    groups: groupsOf(insights, { query, scope }),
  };
}

/** Pipelines in the table, the busiest. */
const SHOWN = 150;

/** Links to a wider time range, or the command for a first run. */
function emptyState(query: StatisticsQuery, first: FirstRun) {
  const { timeRange, stage } = query;
  const ways = [
    ...(timeRange === 'all' ? [] : [{ label: 'All time', href: insightsPath({ ...query, timeRange: 'all' }) }]),
    ...(stage === 'all' ? [] : [{ label: 'Both stages', href: insightsPath({ ...query, stage: 'all' }) }]),
  ];
  return { ways, first: ways.length === 0 ? first : null };
}

interface RowContext {
  scope: Record<string, string>;
  loaded: ReadonlySet<string>;
}

function pipelineRow(stats: PipelineStatistics, { scope, loaded }: RowContext) {
  const runs = paths.runs({ ...scope, pipeline: stats.pipeline_name });
  return {
    name: stats.pipeline_name,
    href: loaded.has(stats.pipeline_name) ? paths.pipeline(stats.pipeline_name) : runs,
    gone: !loaded.has(stats.pipeline_name),
    runs: count(stats.runs_total),
    runsHref: runs,
    success: percent(stats.success_rate),
    machine: duration(stats.duration_seconds.machine_p95),
    waiting: duration(stats.duration_seconds.waiting_p95),
    tokens: amount(stats.tokens.total),
    cost: cost(stats),
    accuracy: percent(accuracyOf(stats)),
    note: [labelsText(stats), unpricedNote(stats)].filter((text) => text !== null).join('; '),
  };
}
