import type { ConfigurationOptions } from '@kubernetes/client-node';
import { z } from 'zod';
import { abortedBy, answerOf, type Refusal } from './answer.ts';

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

export type Listed = { ok: true; items: unknown[]; resourceVersion: string } | Refusal;

const PAGE = 500;
const MAX_PAGES = 1000;

/** Every object of a collection, page by page: all of it or a failure, never a part. */
export async function listAll(
  { list, labelSelector }: { list: ListCall; labelSelector?: string },
  signal: AbortSignal,
): Promise<Listed> {
  const items: unknown[] = [];
  const selector = labelSelector === undefined ? {} : { labelSelector };
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const request = { limit: PAGE, ...selector, ...(next ? { _continue: next } : {}) };
    const answer = await answerOf(list(request, abortedBy(signal)));
    if (!answer.ok) return answer;
    const page = Page.safeParse(answer.body);
    if (!page.success) return { ok: false, status: 200, message: 'the answer is not a list' };
    for (const item of page.data.items) items.push(item);
    const { metadata } = page.data;
    next = metadata.continue || metadata._continue;
    if (!next) return { ok: true, items, resourceVersion: metadata.resourceVersion };
  }
  return { ok: false, status: 200, message: `the list has more than ${MAX_PAGES} pages` };
}
