import { LabelFilter, type RunsQuery } from '../../../service/runs/runs-query.ts';

export const PAGE_SIZE = 50;

/** Filters without a field of their own: they come with links, and show as chips. */
export const CHIP_KEYS = ['team', 'source', 'label', 'agent', 'model', 'warnings', 'since', 'until'] as const;
const FILTER_KEYS = ['status', 'pipeline', 'stage', 'severity', 'q', ...CHIP_KEYS] as const;
const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
/** What a value has to look like; any other is left out. */
const FORMS = {
  since: isTime,
  until: isTime,
  label: (text: string) => LabelFilter.safeParse(text).success,
  warnings: (text: string) => text === 'true' || text === 'false',
};

/** As in the query; several statuses are separated by commas. */
export type Filters = Partial<Record<(typeof FILTER_KEYS)[number], string>> & { page: number };

/** The filters of a URL: known keys only, trimmed and bounded; a page number that makes no sense is the first page. */
export function readFilters(query: Record<string, unknown>): Filters {
  const filters: Filters = { page: pageOf(query['page']) };
  for (const key of FILTER_KEYS) {
    // A repeated parameter means any of its values.
    const value = key === 'status' && Array.isArray(query[key]) ? query[key].join(',') : query[key];
    if (typeof value === 'string' && value.trim() !== '') filters[key] = value.trim().slice(0, 200);
  }
  for (const [key, fits] of Object.entries(FORMS)) {
    const value = filters[key as keyof typeof FORMS];
    if (value !== undefined && !fits(value)) delete filters[key as keyof typeof FORMS];
  }
  return filters;
}

function pageOf(text: unknown): number {
  const page = Number(text);
  return Number.isSafeInteger(page) && page > 1 && page <= 20_000 ? page : 1;
}

export const isFiltered = (filters: Filters): boolean => FILTER_KEYS.some((key) => filters[key] !== undefined);

/** The filters as entries of a URL, the first page left out. */
export const filterQuery = ({ page, ...filters }: Filters): Record<string, string | number> => ({
  ...(filters as Record<string, string>),
  ...(page > 1 ? { page } : {}),
});

/** The filters as the store takes them. */
export const toRunsQuery = ({
  page,
  status,
  stage,
  label,
  warnings,
  since,
  until,
  ...filters
}: Filters): RunsQuery => ({
  ...filters,
  status: status?.split(',') as RunsQuery['status'],
  stage: stage as RunsQuery['stage'],
  label: label === undefined ? undefined : [LabelFilter.parse(label)],
  warnings: warnings === undefined ? undefined : warnings === 'true',
  since: since === undefined ? undefined : Date.parse(since),
  until: until === undefined ? undefined : Date.parse(until),
  limit: PAGE_SIZE,
  offset: (page - 1) * PAGE_SIZE,
});
