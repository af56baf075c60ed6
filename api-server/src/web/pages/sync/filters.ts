import { pageOf } from '../list-filters.ts';

export const PAGE_SIZE = 100;

export interface SyncFilters {
  /** Part of a name or namespace, in small letters. */
  q: string;
  onlyTrouble: boolean;
  page: number;
}

/** The filters of a URL; what makes no sense is left out. */
export function readSyncFilters(query: Record<string, unknown>): SyncFilters {
  return {
    q: typeof query['q'] === 'string' ? query['q'].trim().toLowerCase().slice(0, 200) : '',
    onlyTrouble: query['state'] === 'trouble',
    page: pageOf(query['page']),
  };
}

/** As entries of a URL, the first page left out. */
export const syncQuery = ({ q, onlyTrouble, page }: SyncFilters) => ({
  q,
  state: onlyTrouble ? 'trouble' : '',
  page: page > 1 ? page : '',
});
