import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { logIn, openPage } from './chromium.ts';
import { contrastMisses } from './contrast.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

test.each([
  { width: 1440, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const)('a service without runs shows the command that makes the first one: $width px', async (look) => {
  const { page, context, complaints } = await openPage(site.browser, site.url, look);
  onTestFinished(() => context.close());
  await logIn(page, site.tokens.viewer);
  for (const path of ['/ui/', '/ui/runs', '/ui/insights?time_range=all&stage=all']) {
    await page.goto(path);
    expect(await page.locator('pre').textContent()).toContain(`curl -X POST '${site.url}/webhook?source=generic'`);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)]).toEqual([
      path,
      true,
    ]);
    expect([path, await page.evaluate(contrastMisses)]).toEqual([path, []]);
  }
  await page.goto('/ui/sync');
  await page.getByRole('heading', { name: 'Not managed by a controller' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  expect(await page.evaluate(contrastMisses)).toEqual([]);
  expect(complaints).toEqual([]);
});
