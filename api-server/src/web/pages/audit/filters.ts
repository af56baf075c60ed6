import type { AuditQuery } from '../../../service/audit/audit.ts';

export const PAGE_SIZE = 50;

const TEXTS = ['actor', 'role', 'action', 'target_type', 'target'] as const;
const TIMES = ['since', 'until'] as const;
const KEYS = [...TEXTS, ...TIMES];

export type Filters = Partial<Record<(typeof KEYS)[number], string>> & { page: number };

/** The filters of a URL, by the names of `GET /audit`; what makes no sense is left out. */
export function readFilters(query: Record<string, unknown>): Filters {
  const filters: Filters = { page: 1 };
  for (const key of KEYS) {
    const value = query[key];
    if (typeof value === 'string' && value.trim() !== '') filters[key] = value.trim().slice(0, 200);
  }
  for (const key of TIMES) if (Number.isNaN(Date.parse(filters[key] ?? '1970-01-01'))) delete filters[key];
  const page = Number(query['page']);
  if (Number.isSafeInteger(page) && page > 1 && page <= 20_000) filters.page = page;
  return filters;
}

export const isFiltered = (filters: Filters): boolean => KEYS.some((key) => filters[key] !== undefined);

/** The filters as entries of a URL, the first page left out. */
export const filterQuery = ({ page, ...filters }: Filters): Record<string, string | number> => ({
  ...filters,
  ...(page > 1 ? { page } : {}),
});

export const toAuditQuery = ({ page, role, since, until, ...filters }: Filters): AuditQuery => ({
  ...filters,
  role: role as AuditQuery['role'],
  since: since === undefined ? undefined : Date.parse(since),
  until: until === undefined ? undefined : Date.parse(until),
  limit: PAGE_SIZE,
  offset: (page - 1) * PAGE_SIZE,
});
