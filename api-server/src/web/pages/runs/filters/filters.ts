import { FILTER_KEYS } from '../../../../config/views-schema.ts';
import { boundsOf, type ListFilters, listQuery, readList } from '../../list-filters.ts';
import { RunLine } from '../../../../service/views/run.ts';
import { AttentionFilter, LabelFilter, RUN_ORDERS, type RunsQuery } from '../../../../service/runs/runs-query.ts';

export const PAGE_SIZE = 50;

export type FilterKey = (typeof FILTER_KEYS)[number];

const HOUR = 3_600_000;
/** Times that move with the clock, so that a saved view stays useful. */
export const SPANS = { '1h': HOUR, '24h': 24 * HOUR, '7d': 168 * HOUR, '30d': 720 * HOUR } as const;
const isSpan = (text: string): text is keyof typeof SPANS => Object.hasOwn(SPANS, text);

const isFlag = (text: string) => text === 'true' || text === 'false';
/** What a value has to look like. */
const VALID = {
  status: (text: string) => text.split(',').every((status) => RunLine.shape.status.safeParse(status).success),
  label: (text: string) => LabelFilter.safeParse(text).success,
  teamless: isFlag,
  attention: (text: string) => AttentionFilter.safeParse(text).success,
  warnings: isFlag,
  replay: isFlag,
  last: isSpan,
  sort: (text: string) => RUN_ORDERS.some((order) => order === text),
};

/** As in the query; several statuses are separated by commas. */
export type Filters = ListFilters<FilterKey | 'sort'>;

/** The filters in a query; a repeated status means any of its values. */
export const readFilters = ({ status, ...query }: Record<string, unknown>): Filters =>
  readList(
    { ...query, status: Array.isArray(status) ? status.join(',') : status },
    [...FILTER_KEYS, 'sort' as const],
    VALID,
  );

/** The filters in one form, without the page: two addresses of the same list are the same text. */
export const addressOf = (filters: Filters): string => {
  const entries = Object.entries(listQuery({ ...filters, page: 1 })).filter(([, value]) => value !== undefined);
  return new URLSearchParams(entries.toSorted(([a], [b]) => a.localeCompare(b)) as [string, string][]).toString();
};

function labelsOf({ alert, label }: Filters): RunsQuery['label'] {
  const labels = [
    ...(alert === undefined ? [] : [{ key: 'alertname', value: alert }]),
    ...(label === undefined ? [] : [LabelFilter.parse(label)]),
  ];
  return labels.length === 0 ? undefined : labels;
}

/** The filters as the store takes them, at a time in milliseconds. */
export function toRunsQuery(filters: Filters, now: number): RunsQuery {
  const {
    page,
    status,
    attention,
    stage,
    alert: _alert,
    label: _label,
    teamless,
    warnings,
    replay,
    last,
    since,
    until,
    sort,
    ...equal
  } = filters;
  const bounds = boundsOf({ page, since, until }, PAGE_SIZE);
  return {
    ...equal,
    status: status?.split(',') as RunsQuery['status'],
    attention: attention?.split(',') as RunsQuery['attention'],
    stage: stage as RunsQuery['stage'],
    label: labelsOf(filters),
    teamless: teamless === undefined ? undefined : teamless === 'true',
    warnings: warnings === undefined ? undefined : warnings === 'true',
    replay: replay === undefined ? undefined : replay === 'true',
    sort: sort as RunsQuery['sort'],
    ...bounds,
    since: bounds.since ?? (last === undefined ? undefined : now - SPANS[last as keyof typeof SPANS]),
  };
}
