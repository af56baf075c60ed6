import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openReplaySite, type ReplaySite } from '../support/replay-site.ts';
import { launch, logIn, type Look, openPage } from './chromium.ts';
import { contrastMisses } from './contrast.ts';

let site: ReplaySite;
let browser: Browser;
beforeAll(async () => {
  site = await openReplaySite();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function visit(look: Look = {}) {
  const opened = await openPage(browser, site.apiServer.url, look);
  onTestFinished(() => opened.context.close());
  await logIn(opened.page, site.tokens.operator);
  return opened;
}

test('a person catches a worse prompt: the form shows the change and the cost, the report what got worse', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/steps/triage');
  await page.getByRole('link', { name: 'Replay', exact: true }).click();
  await page.waitForURL('**/ui/replays/new?step=triage');
  await page.locator('#estimate').getByText('2 samples').waitFor();
  const prompt = page.getByLabel('Prompt template');
  await prompt.fill((await prompt.inputValue()).replace('action: restart', 'action: wait'));
  await page.locator('#prompt-diff ins', { hasText: 'wait' }).waitFor();
  await page.getByRole('button', { name: 'Start the replay' }).click();
  await page.waitForURL(/\/ui\/replays\/[0-9a-f-]{36}$/);
  // Without a reload: the page follows its run.
  await page.getByText('2 of 2 graded samples regressed').waitFor();
  await page.locator('.run-state').getByText('Completed').waitFor();
  await page.reload();
  await page.locator('#replay-samples del', { hasText: 'restart' }).first().waitFor();
  expect(await page.locator('#replay-samples ins', { hasText: 'wait' }).count()).toBe(2);
  // A person has the last word.
  await page.getByRole('button', { name: 'Correct' }).first().click();
  await page.getByText('1 of 2 graded samples regressed').waitFor();
  await page.goto('/ui/replays');
  await page.getByText('another prompt').waitFor();
  expect(complaints).toEqual([]);
});

test('a golden set is replayed without script', async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  await page.goto('/ui/replays');
  await page.getByRole('button', { name: 'New replay' }).click();
  await page.getByLabel('Recorded executions').selectOption({ label: 'Golden set misread, 2 members' });
  await page.getByLabel('Model').fill('demo/other');
  await page.getByRole('button', { name: 'Estimate and compare' }).click();
  expect(await page.getByLabel('Model').inputValue()).toBe('demo/other');
  await page.getByRole('button', { name: 'Start the replay' }).click();
  await page.getByRole('heading', { name: 'Replay of triage' }).waitFor();
});

const LOOKS: Look[] = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 390, height: 844 },
];

test.each(LOOKS)('the pages of replays are readable: $theme at $width px', async (look) => {
  const { page, complaints } = await visit(look);
  await page.goto('/ui/replays');
  const report = await page.locator('.replays .row-link').last().getAttribute('href');
  for (const path of ['/ui/replays', '/ui/replays/new?step=triage', report ?? '']) {
    await page.goto(path);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)]).toEqual([
      path,
      false,
    ]);
    expect([path, await page.evaluate(contrastMisses)]).toEqual([path, []]);
  }
  expect(complaints).toEqual([]);
});
