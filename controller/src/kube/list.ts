import { z } from 'zod';
import type { Cluster } from './cluster.ts';

const Page = z.object({
  kind: z.string(),
  metadata: z.object({ resourceVersion: z.string().min(1), continue: z.string().optional() }),
  items: z.array(z.unknown()),
});

export type Listed =
  | { ok: true; items: unknown[]; resourceVersion: string }
  | { ok: false; status: number; message: string };

const PAGE = 500;
const MAX_PAGES = 1000;

/** Every object of a collection, page by page; all of it or a failure, never a part (Design 7). */
export async function listAll(
  cluster: Pick<Cluster, 'send'>,
  { path, labelSelector }: { path: string; labelSelector?: string },
  signal: AbortSignal,
): Promise<Listed> {
  const items: unknown[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const query = new URLSearchParams({
      limit: String(PAGE),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(next ? { continue: next } : {}),
    });
    const answer = await cluster.send({ method: 'GET', path: `${path}?${query.toString()}`, signal });
    if (!answer.ok) return answer;
    const page = Page.safeParse(answer.body);
    if (!page.success || !page.data.kind.endsWith('List'))
      return { ok: false, status: 200, message: 'answered something that is no list' };
    for (const item of page.data.items) items.push(item);
    const { metadata } = page.data;
    if (!metadata.continue) return { ok: true, items, resourceVersion: metadata.resourceVersion };
    next = metadata.continue;
  }
  return { ok: false, status: 200, message: `more than ${MAX_PAGES} pages` };
}
