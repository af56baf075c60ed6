import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Axe {
  run(root: Document, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** What axe finds, as rule and element. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async (values) => {
    const { axe } = window as unknown as { axe: Axe };
    const { violations: found } = await axe.run(document, { runOnly: { type: 'tag', values } });
    return found.flatMap(({ id, nodes }) => nodes.slice(0, 5).map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, TAGS);
}
