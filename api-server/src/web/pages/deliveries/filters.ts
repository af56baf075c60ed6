import { KeptQuery } from '../../../service/deliveries/kept.ts';

export const PAGE_SIZE = 50;
export const OUTCOMES = KeptQuery.shape.outcome.unwrap().options;

export interface Filters {
  outcome?: KeptQuery['outcome'];
  q?: string;
  cursor?: number;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined;

/** The filters of a URL; what makes no sense is left out. */
export function readFilters(query: Record<string, unknown>): Filters {
  const outcome = OUTCOMES.find((one) => one === query['outcome']);
  const cursor = /^d(\d{1,15})$/.exec(String(query['cursor']))?.[1];
  const q = textOf(query['q']);
  return {
    ...(outcome && { outcome }),
    ...(q !== undefined && { q }),
    ...(cursor !== undefined && { cursor: Number(cursor) }),
  };
}

export const toKeptQuery = (filters: Filters): KeptQuery => ({ ...filters, limit: PAGE_SIZE });
