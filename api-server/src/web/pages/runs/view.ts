import { exportLinks } from '../exports/links.ts';
import { count, exactTime } from '../format.ts';
import { paths } from '../paths.ts';
import { statusLook } from '../status.ts';
import type { RunsPage } from '../../../service/views/run.ts';
import { type FirstRun } from './first-run.ts';
import { isFiltered, listQuery, pager, select } from '../list-filters.ts';
import { CHIP_KEYS, type Filters, PAGE_SIZE } from './filters.ts';
import { runRow } from './row.ts';

const STATUSES = [
  'running',
  'queued',
  'interrupted',
  'completed',
  'escalated',
  'failed',
  'aborted',
  'failed,aborted',
  'stopped',
  'cancelled',
];
const SEVERITIES = ['critical', 'warning', 'info'];

const ATTENTION = ['open', 'acknowledged', 'resolved'];

const attentionWords = (states: string): string => capital(states.split(',').join(' or '));
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** `Failed or aborted` for several statuses. */
const statusWords = (statuses: string): string => {
  const words = statuses.split(',').map((status) => statusLook(status).word);
  return words.map((word, i) => (i === 0 ? word : word.toLowerCase())).join(' or ');
};

const selects = (filters: Filters, pipelines: string[]) => [
  select('status', 'Status', { known: STATUSES, chosen: filters.status, words: statusWords }),
  select('attention', 'Attention', { known: ATTENTION, chosen: filters.attention, words: attentionWords }),
  select('pipeline', 'Pipeline', { known: pipelines, chosen: filters.pipeline }),
  select('stage', 'Stage', { known: ['production', 'testing'], chosen: filters.stage }),
  select('severity', 'Severity', { known: SEVERITIES, chosen: filters.severity }),
];

/** Filters without a field in the form, as chips with a link that removes them. */
const chips = (filters: Filters) =>
  CHIP_KEYS.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const href = paths.runs(listQuery({ ...filters, [name]: undefined, page: 1 }));
    return [{ name, value, label: chipLabel(name, value), href }];
  });

const chipLabel = (key: (typeof CHIP_KEYS)[number], value: string): string => {
  if (key === 'warnings') return value === 'true' ? 'with warnings' : 'without warnings';
  if (key === 'since') return `from ${exactTime(value)}`;
  return key === 'until' ? `before ${exactTime(value)}` : `${key}: ${value}`;
};

export interface RunsInput {
  page: RunsPage;
  filters: Filters;
  /** What the address says and no filter knows. */
  ignored: string[];
  pipelines: string[];
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
  if (filters.page > 1) return '';
  const [newest] = page.runs;
  const after = newest?.triggered_at ?? new Date(now).toISOString();
  return paths.runsNews({ ...listQuery(filters), after, seen: newest?.id });
}

/** The list of runs with filters, pager and the address that reports newer runs. */
export function runsView(input: RunsInput) {
  const { page, filters } = input;
  return {
    action: paths.runs(),
    here: paths.runs(listQuery({ ...filters, page: 1 })),
    ...shownOf(input),
    q: filters.q ?? '',
    selects: selects(filters, input.pipelines),
    extra: chips(filters),
    filtered: isFiltered(filters),
    ignored:
      input.ignored.length === 0
        ? null
        : `${input.ignored.slice(0, 5).join('; ')}. The list shows what the other filters leave.`,
    rows: page.runs.map((run) => runRow(run, input)),
    exports: exportLinks(['runs', 'steps'], filters),
    news: newsPath(input),
    first: input.first,
    operator: input.operator,
  };
}
