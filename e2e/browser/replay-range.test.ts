import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { markedRun, openReplaySite, type ReplaySite } from '../support/replay-site.ts';
import { launch, logIn, type Look, openPage } from './chromium.ts';
import { contrastMisses } from './contrast.ts';

/** Two agents with a webhook between them; the second does what the first said. */
const REFUND = `name: refund
stage: production
steps:
  - name: decide
    executor: gateway
    agent: triager
    confidence_threshold: 0.5
    prompt_template: |
      Alert: {{summary}}
      \`\`\`demo
      answer:
        confidence: 0.9
        summary: The connection pool is exhausted.
        action: restart
      \`\`\`
  - {name: tell, executor: webhook, url: 'http://127.0.0.1:9/tell', timeout_seconds: 5, on_failure: continue}
  - name: plan
    executor: gateway
    agent: triager
    confidence_threshold: 0.5
    prompt_template: |
      \`\`\`demo
      answer:
        confidence: 0.8
        summary: Do {{steps.decide.output.action}} now.
      \`\`\`
`;

let site: ReplaySite;
let browser: Browser;
beforeAll(async () => {
  site = await openReplaySite({ 'refund.yaml': REFUND });
  for (const summary of ['one', 'two']) await markedRun(site, { pipeline: 'refund', step: 'plan', summary });
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

test('a person replays two steps: the second one sees the new answer of the first, and the webhook is not called', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/pipelines/refund');
  await page.getByRole('link', { name: 'Replay steps' }).click();
  await page.waitForURL('**/ui/replays/range?pipeline=refund');
  await page.locator('#estimate').getByText('2 recorded runs').waitFor();
  const prompt = page.getByLabel('Prompt template').first();
  await prompt.fill((await prompt.inputValue()).replace('action: restart', 'action: wait'));
  await page.locator('#diff-decide ins', { hasText: 'wait' }).waitFor();
  await page.locator('#chain-plan').getByText('is asked again with another prompt').waitFor();
  await page.locator('#chain-plan').getByText('is not executed').waitFor();
  await page.getByRole('button', { name: 'Start the replay' }).click();
  await page.waitForURL(/\/ui\/replays\/[0-9a-f-]{36}$/);
  // Without a reload: the page follows its run.
  await page.locator('.run-state').getByText('Completed').waitFor();
  await page.getByText('Nothing is graded yet').waitFor();
  await page.getByText('No request was sent').waitFor({ state: 'attached' });
  const first = page.locator('#replay-samples > section').first();
  await page.reload();
  await first.locator('summary').first().click();
  await first.getByText('answered with what was recorded').waitFor();
  const plan = first.locator('.chain-step').last();
  await plan.getByText('Do wait now.').first().waitFor();
  await plan.getByText('Do restart now.').waitFor();
  // A person has the last word.
  await plan.getByRole('button', { name: 'Incorrect', exact: true }).click();
  await page.getByText('1 of 1 graded answers regressed').waitFor();
  expect(complaints).toEqual([]);
});

const LOOKS: Look[] = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 390, height: 844 },
];

test.each(LOOKS)('the pages of a range are readable: $theme at $width px', async (look) => {
  const { page, complaints } = await visit(look);
  await page.goto('/ui/replays');
  const report = await page.getByRole('link', { name: 'refund: decide to plan' }).first().getAttribute('href');
  for (const path of ['/ui/replays', '/ui/replays/range?pipeline=refund', '/ui/pipelines/refund', report ?? '']) {
    await page.goto(path);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)]).toEqual([
      path,
      false,
    ]);
    expect([path, await page.evaluate(contrastMisses)]).toEqual([path, []]);
  }
  expect(complaints).toEqual([]);
});
