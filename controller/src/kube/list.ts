import type { ConfigurationOptions } from '@kubernetes/client-node';
import { z } from 'zod';
import { abortedBy, ANSWER_TOO_LARGE, answerOf, type Refusal } from './answer.ts';

export interface PageRequest {
  limit: number;
  labelSelector?: string;
  _continue?: string;
}

/** Asks for one page of a collection, typed or not. */
export type ListCall = (page: PageRequest, options: ConfigurationOptions) => Promise<unknown>;

const Page = z.object({
  kind: z.string().endsWith('List'),
  // The typed APIs of the client put a `_` before words of the language.
  metadata: z.object({
    resourceVersion: z.string().min(1),
    continue: z.string().optional(),
    _continue: z.string().optional(),
  }),
  items: z.array(z.unknown()),
});

export type Listed<Item> = { ok: true; items: Item[]; resourceVersion: string } | Refusal;

interface Listing<Item> {
  list: ListCall;
  labelSelector?: string;
  /** Null for an object that is not of this kind. */
  read(item: unknown): Item | null;
  /** What is kept of the objects that were read so far. */
  fit?(items: readonly Item[]): Item[];
}

const PAGE = 500;
/** Where every page is of one object, still a list as large as a cluster holds. */
const MAX_PAGES = 100_000;
/** Parsed, they take 10 MB. Nobody's object makes a list unreadable: one alone is read, whatever it has. */
const MAX_VALUES = 200_000;

/** Every object of a collection, page by page: all of it or a failure, never a part. Of a page only what was read of it is kept. */
export async function listAll<Item>(listing: Listing<Item>, signal: AbortSignal): Promise<Listed<Item>> {
  let items: Item[] = [];
  let ask: Ask = { limit: PAGE };
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const answer = await readPage(listing, ask, signal);
    if (!answer.ok) return answer;
    const page = Page.safeParse(answer.body);
    if (!page.success) return { ok: false, status: 200, message: 'the answer is not a list' };
    for (const item of page.data.items) {
      const read = listing.read(item);
      if (read !== null) items.push(read);
    }
    items = listing.fit?.(items) ?? items;
    const { metadata } = page.data;
    const next = metadata.continue || metadata._continue;
    if (!next) return { ok: true, items, resourceVersion: metadata.resourceVersion };
    ask = { limit: Math.min(PAGE, answer.limit * 2), next };
  }
  return { ok: false, status: 200, message: `the list has more than ${MAX_PAGES} pages` };
}

interface Ask {
  limit: number;
  next?: string;
}

/** A page of as many objects, or of fewer where they are too large to be read at once. */
async function readPage(
  { list, labelSelector }: Pick<Listing<unknown>, 'list' | 'labelSelector'>,
  { limit: most, next }: Ask,
  signal: AbortSignal,
): Promise<{ ok: true; body: unknown; limit: number } | Refusal> {
  const selector = labelSelector === undefined ? {} : { labelSelector };
  for (let limit = most; ; limit = Math.ceil(limit / 4)) {
    const page = { limit, ...selector, ...(next ? { _continue: next } : {}) };
    const answer = await answerOf(list(page, abortedBy(signal, MAX_VALUES, limit === 1)));
    if (answer.ok) return { ...answer, limit };
    if (answer.status !== ANSWER_TOO_LARGE || limit === 1) return answer;
  }
}
