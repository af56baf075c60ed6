import type { Insights } from '../../../service/views/analytics/statistics.ts';
import type { StatisticsQuery } from '../../../service/statistics/statistics.ts';
import { count, money } from '../format.ts';
import { paths } from '../paths.ts';
import { amount, cost, unpricedNote } from './figures.ts';
import { insightsPath } from './filters.ts';

interface At {
  query: StatisticsQuery;
  /** Of the list of runs behind the figures. */
  scope: Record<string, string>;
}

/** Rows of a table, the busiest. */
export const MOST_ROWS = 50;

/** Rows that a narrow screen shows before it is asked for all (10-insights.css). */
const UNFOLDED = 8;

/** How many rows there are, where that is more than a narrow screen shows. */
export const foldOf = (rows: number): string | null => (rows > UNFOLDED ? count(rows) : null);

/** Definitions and backends choose names: there may be any number. */
export const busiest = <T>(rows: readonly T[]) => ({
  rows: rows.slice(0, MOST_ROWS),
  folds: foldOf(Math.min(MOST_ROWS, rows.length)),
  left: rows.length > MOST_ROWS ? count(rows.length - MOST_ROWS) : null,
});

function busiestAs<T, Row>(all: readonly T[], rowOf: (one: T) => Row) {
  const { rows, ...rest } = busiest(all);
  return { ...rest, rows: rows.map(rowOf) };
}

/** What teams, agents and models used. Teams count runs, agents and models count executions. */
export const groupsOf = ({ pipelines, agents, models }: Insights, at: At) => [
  {
    id: 'teams',
    title: 'Teams',
    one: 'Team',
    counts: 'Runs',
    none: 'No run has a team. A team comes from the webhook token, or from the pipeline.',
    more: { href: paths.teams(), label: 'Budgets' },
    ...busiestAs(teamsIn(pipelines), (team) => teamRow(team, at)),
  },
  {
    id: 'agents',
    title: 'Agents',
    one: 'Agent',
    counts: 'Executions',
    none: 'No agent was asked.',
    more: null,
    ...busiestAs(agents, (work) => workRow('agent', work, at)),
  },
  {
    id: 'models',
    title: 'Models',
    one: 'Model',
    counts: 'Executions',
    none: 'No model was asked.',
    more: null,
    ...busiestAs(models, (work) => workRow('model', work, at)),
  },
];

function workRow(key: 'agent' | 'model', work: Insights['agents'][number], { query, scope }: At) {
  return {
    name: work.name,
    href: insightsPath({ ...query, [key]: work.name }),
    runsHref: paths.runs({ ...scope, [key]: work.name }),
    count: count(work.executions),
    tokens: amount(work.tokens.total),
    cost: cost(work),
    costNote: unpricedNote(work),
  };
}

/** The teams of all pipelines together, the busiest first, runs without a team last. */
function teamsIn(pipelines: Insights['pipelines']) {
  const all = Map.groupBy(
    pipelines.flatMap(({ teams }) => teams),
    ({ team }) => team,
  );
  return [...all]
    .map(([team, parts]) => ({ team, parts, runs: sum(parts.map((part) => part.runs_total)) }))
    .toSorted((a, b) => Number(a.team === null) - Number(b.team === null) || b.runs - a.runs);
}

function teamRow({ team, parts, runs }: ReturnType<typeof teamsIn>[number], { query, scope }: At) {
  const priced = parts.flatMap((part) => part.cost.total ?? []);
  const unpriced = sum(parts.map((part) => part.cost.unpriced_steps));
  const total = priced.length === 0 ? null : sum(priced);
  return {
    name: team ?? 'no team',
    href: team === null ? null : insightsPath({ ...query, team }),
    runsHref: paths.runs({ ...scope, ...(team === null ? { teamless: 'true' } : { team }) }),
    count: count(runs),
    tokens: amount(sum(parts.map((part) => part.tokens.total))),
    cost: total === null ? '–' : money(total, parts[0]?.cost.currency ?? ''),
    costNote: unpriced === 0 ? null : `${count(unpriced)} without a price`,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
