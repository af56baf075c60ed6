import { count, exactTime } from '../format.ts';
import { paths } from '../paths.ts';
import { statusLook } from '../status.ts';
import type { RunsPage } from '../../../service/views/run.ts';
import { type FirstRun } from './first-run.ts';
import { CHIP_KEYS, type Filters, filterQuery, isFiltered, PAGE_SIZE } from './filters.ts';
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

/** `Failed or aborted` for several statuses. */
const statusWords = (statuses: string): string => {
  const words = statuses.split(',').map((status) => statusLook(status).word);
  return words.map((word, i) => (i === 0 ? word : word.toLowerCase())).join(' or ');
};

interface Option {
  value: string;
  label: string;
  selected: boolean;
}

/** Options of a filter, with the chosen value where the list lacks it. */
function options(
  known: string[],
  chosen: string | undefined,
  label: (value: string) => string = (value) => value,
): Option[] {
  const values = chosen !== undefined && !known.includes(chosen) ? [...known, chosen] : known;
  return values.map((value) => ({ value, label: label(value), selected: value === chosen }));
}

function selects(filters: Filters, pipelines: string[]) {
  const list = [
    {
      name: 'status',
      label: 'Status',
      any: 'Any status',
      options: options(STATUSES, filters.status, statusWords),
    },
    { name: 'pipeline', label: 'Pipeline', any: 'Any pipeline', options: options(pipelines, filters.pipeline) },
    { name: 'stage', label: 'Stage', any: 'Any stage', options: options(['production', 'testing'], filters.stage) },
    { name: 'severity', label: 'Severity', any: 'Any severity', options: options(SEVERITIES, filters.severity) },
  ];
  return list.map((select) => ({ ...select, active: select.options.some((option) => option.selected) }));
}

/** Filters without a field in the form, as chips with a link that removes them. */
const chips = (filters: Filters) =>
  CHIP_KEYS.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const href = paths.runs(filterQuery({ ...filters, [name]: undefined, page: 1 }));
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
  pipelines: string[];
  first: FirstRun;
  operator: boolean;
  now: number;
  currency: string;
}

/** The shown range and the links to the next pages. */
function pager({ page, filters }: RunsInput) {
  const to = page.offset + page.runs.length;
  const open = page.total_is_lower_bound === true;
  const total = `${count(page.total)}${open ? '+' : ''}`;
  const goTo = (number: number) => paths.runs(filterQuery({ ...filters, page: number }));
  const more = open ? page.runs.length === PAGE_SIZE : to < page.total;
  return {
    total: page.total === 1 ? '1 run' : `${total} runs`,
    range: page.runs.length === 0 ? '' : `${count(page.offset + 1)}–${count(to)} of ${total}`,
    newer: filters.page > 1 ? goTo(filters.page - 1) : null,
    older: more ? goTo(filters.page + 1) : null,
  };
}

/** Address that the first page polls for newer runs. */
function newsPath({ page, filters, now }: RunsInput): string {
  if (filters.page > 1) return '';
  const [newest] = page.runs;
  const after = newest?.triggered_at ?? new Date(now).toISOString();
  return paths.runsNews({ ...filterQuery(filters), after, seen: newest?.id });
}

/** The list of runs with filters, pager and the address that reports newer runs. */
export function runsView(input: RunsInput) {
  const { page, filters } = input;
  return {
    action: paths.runs(),
    here: paths.runs(filterQuery({ ...filters, page: 1 })),
    ...pager(input),
    q: filters.q ?? '',
    selects: selects(filters, input.pipelines),
    extra: chips(filters),
    filtered: isFiltered(filters) || filters.page > 1,
    rows: page.runs.map((run) => runRow(run, input)),
    news: newsPath(input),
    first: input.first,
    operator: input.operator,
  };
}
