import { boundsOf, type ListFilters, readList } from '../list-filters.ts';
import { AttentionFilter, LabelFilter, type RunsQuery } from '../../../service/runs/runs-query.ts';

export const PAGE_SIZE = 50;

/** Filters without a field of their own: they come with links, and show as chips. */
export const CHIP_KEYS = ['team', 'source', 'label', 'agent', 'model', 'warnings', 'since', 'until'] as const;
const FILTER_KEYS = ['status', 'attention', 'pipeline', 'stage', 'severity', 'q', ...CHIP_KEYS] as const;
/** What a value has to look like. */
const VALID = {
  label: (text: string) => LabelFilter.safeParse(text).success,
  attention: (text: string) => AttentionFilter.safeParse(text).success,
  warnings: (text: string) => text === 'true' || text === 'false',
};

/** As in the query; several statuses are separated by commas. */
export type Filters = ListFilters<(typeof FILTER_KEYS)[number]>;

/** The filters in a query; a repeated status means any of its values. */
export const readFilters = ({ status, ...query }: Record<string, unknown>): Filters =>
  readList({ ...query, status: Array.isArray(status) ? status.join(',') : status }, FILTER_KEYS, VALID);

const KNOWN: ReadonlySet<string> = new Set([...FILTER_KEYS, 'page']);

/** Keys and values of a query that filter nothing: unknown keys, and values that make no sense. */
export const ignoredIn = (query: Record<string, unknown>, filters: Filters): string[] =>
  Object.entries(query).flatMap(([key, value]) => {
    if (value === '' || key === 'page') return [];
    if (!KNOWN.has(key)) return [`"${key.slice(0, 60)}" is no filter of this list`];
    return filters[key as keyof Filters] === undefined ? [`"${String(value).slice(0, 60)}" is no value of ${key}`] : [];
  });

/** The filters as the store takes them. */
export const toRunsQuery = ({
  page,
  status,
  attention,
  stage,
  label,
  warnings,
  since,
  until,
  ...filters
}: Filters): RunsQuery => ({
  ...filters,
  status: status?.split(',') as RunsQuery['status'],
  attention: attention?.split(',') as RunsQuery['attention'],
  stage: stage as RunsQuery['stage'],
  label: label === undefined ? undefined : [LabelFilter.parse(label)],
  warnings: warnings === undefined ? undefined : warnings === 'true',
  ...boundsOf({ page, since, until }, PAGE_SIZE),
});
