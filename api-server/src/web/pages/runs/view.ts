import { exportLinks } from '../exports/links.ts';
import { count } from '../format.ts';
import { paths } from '../paths.ts';
import type { RunsPage } from '../../../service/views/run.ts';
import { type FirstRun } from './first-run.ts';
import { isFiltered, listQuery, pager } from '../list-filters.ts';
import { barView } from './filters/bar.ts';
import { type Filters, PAGE_SIZE } from './filters/filters.ts';
import { viewsView } from './views/view.ts';
import { runRow } from './row.ts';

export interface RunsInput {
  page: RunsPage;
  filters: Filters;
  pipelines: string[];
  /** Named views: of teams, and of the person. */
  views: Omit<Parameters<typeof viewsView>[0], 'filters'>;
  first: FirstRun;
  operator: boolean;
  now: number;
  currency: string;
}

function shownOf({ page, filters }: RunsInput) {
  const { offset } = page;
  const shown = page.runs.length;
  const open = page.total_is_lower_bound === true;
  const total = `${count(page.total)}${open ? '+' : ''}`;
  const more = open ? shown === PAGE_SIZE : offset + shown < page.total;
  return {
    total: page.total === 1 ? '1 run' : `${total} runs`,
    ...pager({ page: filters.page, offset, shown, total, more }, (number) =>
      paths.runs(listQuery({ ...filters, page: number })),
    ),
  };
}

/** Address that the first page polls for newer runs. */
function newsPath({ page, filters, now }: RunsInput): string {
  if (filters.page > 1 || (filters.sort ?? 'age') !== 'age') return '';
  const [newest] = page.runs;
  const after = newest?.triggered_at ?? new Date(now).toISOString();
  return paths.runsNews({ ...listQuery(filters), after, seen: newest?.id });
}

/** The list of runs with filters, pager and the address that reports newer runs. */
export function runsView(input: RunsInput) {
  const { page, filters } = input;
  const { sort: _sort, ...set } = filters;
  return {
    action: paths.runs(),
    here: paths.runs(listQuery({ ...filters, page: 1 })),
    list: paths.runs(listQuery(filters)),
    ...shownOf(input),
    q: filters.q ?? '',
    bar: barView(filters, input.pipelines),
    views: viewsView({ ...input.views, filters }),
    filtered: isFiltered(set),
    rows: page.runs.map((run) => runRow(run, input)),
    exports: exportLinks(['runs', 'steps'], filters),
    news: newsPath(input),
    first: input.first,
    operator: input.operator,
  };
}
