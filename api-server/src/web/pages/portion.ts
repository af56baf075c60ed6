import { z } from 'zod';
import { count as number } from '../../service/fields.ts';
import { count } from './format.ts';
import { pager } from './list-filters.ts';

const Page = z.object({ page: number(1, 1000).catch(1) });

/** Counts from 1. */
export const pageIn = (query: unknown): number => Page.parse(query).page;

interface Asked {
  page: number;
  size: number;
  goTo(page: number): string;
}

/** One page of rows that are all known; `pager` is null where they are all on it. */
export function portionOf<T>(rows: readonly T[], { page, size, goTo }: Asked) {
  const last = Math.max(1, Math.ceil(rows.length / size));
  const at = Math.min(page, last);
  const offset = (at - 1) * size;
  const shown = rows.slice(offset, offset + size);
  const around = { page: at, offset, shown: shown.length, total: count(rows.length), more: at < last };
  return { rows: shown, total: rows.length, pager: last === 1 ? null : pager(around, goTo) };
}
