import { z } from 'zod';
import { shorten } from '../../format.ts';
import { addressOf, readFilters } from '../filters/filters.ts';

export const VIEWS_COOKIE = 'signalbox_views';

const MAX_VIEWS = 20;
const MAX_NAME = 40;
/** A browser keeps about 4 KB of a cookie. */
const MAX_COOKIE = 3_600;

/** A view of the list of runs: a name and the query of its address. */
export interface SavedView {
  name: string;
  query: string;
}

const Stored = z.strictObject({
  by: z.string(),
  views: z
    .array(
      z.strictObject({
        name: z
          .string()
          .min(1)
          .max(2 * MAX_NAME),
        query: z.string().max(MAX_COOKIE),
      }),
    )
    .max(MAX_VIEWS),
});

/** Only what the list of runs knows, in the form that its addresses have. */
export const canonical = (query: string): string =>
  addressOf(readFilters(Object.fromEntries(new URLSearchParams(query))));

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
};

/** The views that this person saved in this browser; what anything else wrote into the cookie is none. */
export function savedViews(cookie: string | undefined, person: string): SavedView[] {
  const stored = Stored.safeParse(cookie === undefined ? null : parsed(cookie.slice(0, MAX_COOKIE)));
  if (!stored.success || stored.data.by !== person) return [];
  return stored.data.views.map(({ name, query }) => ({ name, query: canonical(query) }));
}

/** Null where the cookie would be too large. */
export function viewsCookie(views: readonly SavedView[], person: string): string | null {
  const text = Buffer.from(JSON.stringify({ by: person, views })).toString('base64url');
  return views.length > MAX_VIEWS || text.length > MAX_COOKIE ? null : text;
}

/** As typed, in one line and within bounds; empty where there is none. */
export const viewName = (typed: unknown): string =>
  typeof typed === 'string' ? shorten(typed.trim().replaceAll(/\s+/g, ' '), MAX_NAME) : '';

/** The cookie lasts a year. Scripts do not need it, so it is HTTP-only. */
export const VIEWS_COOKIE_OPTIONS = { path: '/ui', maxAge: 31_536_000, sameSite: 'lax', httpOnly: true } as const;
