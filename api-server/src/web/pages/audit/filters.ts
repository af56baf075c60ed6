import type { AuditQuery } from '../../../service/audit/audit.ts';
import { boundsOf, type ListFilters, readList } from '../list-filters.ts';

export const PAGE_SIZE = 50;

const KEYS = ['actor', 'role', 'action', 'target_type', 'target', 'since', 'until'] as const;

export type Filters = ListFilters<(typeof KEYS)[number]>;

/** The filters in a query, named as those of `GET /audit`. */
export const readFilters = (query: Record<string, unknown>): Filters => readList(query, KEYS);

export const toAuditQuery = ({ page, role, since, until, ...filters }: Filters): AuditQuery => ({
  ...filters,
  role: role as AuditQuery['role'],
  ...boundsOf({ page, since, until }, PAGE_SIZE),
});
