export const PAGE_SIZE = 100;

export interface SyncFilters {
  /** Part of a name or namespace, in small letters. */
  q: string;
  onlyTrouble: boolean;
  page: number;
}

/** The filters of a URL; what makes no sense is left out. */
export function readSyncFilters(query: Record<string, unknown>): SyncFilters {
  const page = Number(query['page']);
  return {
    q: typeof query['q'] === 'string' ? query['q'].trim().toLowerCase().slice(0, 200) : '',
    onlyTrouble: query['state'] === 'trouble',
    page: Number.isSafeInteger(page) && page > 1 && page <= 10_000 ? page : 1,
  };
}

/** As entries of a URL, the first page left out. */
export const syncQuery = ({ q, onlyTrouble, page }: SyncFilters) => ({
  q,
  state: onlyTrouble ? 'trouble' : '',
  page: page > 1 ? page : '',
});
