import { count } from './format.ts';

/** The filters of a list as its query has them; pages count from 1. */
export type ListFilters<Key extends string> = Partial<Record<Key, string>> & { page: number };

type Valid<Key extends string> = Partial<Record<Key, (text: string) => boolean>>;

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
const TIMES: Valid<string> = { since: isTime, until: isTime };
const MAX_PAGE = 20_000;
const MAX_SHOWN = 120;

/** The named filters of a query, trimmed and shortened; invalid values are ignored. */
export function readList<Key extends string>(
  query: Record<string, unknown>,
  keys: readonly Key[],
  valid: Valid<Key> = {},
): ListFilters<Key> {
  const texts = keys.flatMap((key): [string, string][] => {
    const value = query[key];
    const text = typeof value === 'string' ? value.trim().slice(0, 200) : '';
    const fits = valid[key] ?? TIMES[key] ?? (() => true);
    return text !== '' && fits(text) ? [[key, text]] : [];
  });
  return { ...Object.fromEntries(texts), page: pageOf(query['page']) } as ListFilters<Key>;
}

/** What an address asks for and its page did not understand: unknown keys, and values that make no sense. */
export const ignoredIn = (query: object, understood: object): string[] =>
  Object.entries(query as Record<string, unknown>).flatMap(([key, value]) => {
    const known = key === 'page' || (understood as Record<string, unknown>)[key] !== undefined;
    return value === '' || known ? [] : [`"${key}=${String(value)}"`.slice(0, MAX_SHOWN)];
  });

export function pageOf(text: unknown): number {
  const page = Number(text);
  return Number.isSafeInteger(page) && page > 1 && page <= MAX_PAGE ? page : 1;
}

export const isFiltered = ({ page, ...filters }: { page: number }): boolean =>
  page > 1 || Object.values(filters).some((value) => value !== undefined);

/** The filters as entries of a query, without the first page. */
export const listQuery = ({ page, ...filters }: { page: number }): Record<string, string | number> => ({
  ...filters,
  ...(page > 1 ? { page } : {}),
});

const msOf = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));

/** Times, limit and offset as use cases take them. */
export const boundsOf = ({ since, until, page }: ListFilters<'since' | 'until'>, size: number) => ({
  since: msOf(since),
  until: msOf(until),
  limit: size,
  offset: (page - 1) * size,
});

interface Choices {
  known: readonly string[];
  chosen: string | undefined;
  words?: (value: string) => string;
}

/** A select of a filter form. A chosen value that is not in the list stays visible. */
export function select(name: string, label: string, { known, chosen, words = (value) => value }: Choices) {
  const values = chosen === undefined || known.includes(chosen) ? known : [...known, chosen];
  const options = values.map((value) => ({ value, label: words(value), selected: value === chosen }));
  return { name, label, any: `Any ${label.toLowerCase()}`, options, active: chosen !== undefined };
}

interface Shown {
  page: number;
  offset: number;
  shown: number;
  total: string;
  more: boolean;
}

/** The shown range, and the links to the pages beside it. */
export const pager = ({ page, offset, shown, total, more }: Shown, goTo: (page: number) => string) => ({
  range: shown === 0 ? '' : `${count(offset + 1)}–${count(offset + shown)} of ${total}`,
  newer: page > 1 ? goTo(page - 1) : null,
  older: more ? goTo(page + 1) : null,
});
