import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { call } from '../support/call.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Look, logIn, openPage } from './chromium.ts';
import { contrastMisses } from './contrast.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
let runId: string;
let auditId: number;
let goldenSetId: string;
beforeAll(async () => {
  site = await openSite({ managed: true });
  runId = await site.finish('The first run');
  const token = site.tokens.admin;
  for (const what of ['suspend', 'resume']) await call(`${site.url}/pipelines/held/${what}`, { token, body: {} });
  const { body } = await call<{ rows: { id: number }[] }>(`${site.url}/audit`, { token });
  auditId = body.rows[0]!.id;
  await call(`${site.url}/runs/${runId}/steps/observe/feedback`, { token, body: { outcome: 'correct' } });
  const set = { name: 'machine', step_name: 'observe', description: 'Readings that were right' };
  goldenSetId = (await call<{ id: string }>(`${site.url}/golden-sets`, { token, body: set })).body.id;
  const member = { run_id: runId, step_name: 'observe', note: 'A quiet machine' };
  await call(`${site.url}/golden-sets/${goldenSetId}/members`, { token, body: member });
});
afterAll(() => site?.close());

async function visit(look: Look = {}, token: string = site.tokens.operator) {
  const opened = await openPage(site.browser, site.url, look);
  onTestFinished(() => opened.context.close());
  await logIn(opened.page, token);
  return opened;
}

const scrollsSideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

test('a wrong token is told clearly, the right one opens the page that was asked for', async () => {
  const { page, context, complaints } = await openPage(site.browser, site.url);
  onTestFinished(() => context.close());
  await page.goto(`/ui/runs/${runId}`);
  expect(new URL(page.url()).pathname).toBe('/ui/login');
  await page.getByLabel('Access token').fill('not-a-token');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('Invalid token').waitFor();
  await page.getByLabel('Access token').fill(site.tokens.viewer);
  await page.getByLabel('Remember me').check();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/ui/runs/${runId}`);
  expect((await context.cookies()).find(({ name }) => name === 'service_session')).toMatchObject({
    httpOnly: true,
    sameSite: 'Lax',
  });
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/ui/login');
  await page.goto('/ui/runs');
  expect(new URL(page.url()).pathname).toBe('/ui/login');
  expect(complaints).toEqual([]);
});

test('a run goes from running to completed under the eyes of the reader, without a reload', async () => {
  const { page, complaints } = await visit();
  const id = await site.start('A run to watch');
  await page.goto(`/ui/runs/${id}`);
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  const state = page.locator('.run-state .status');
  expect(await state.textContent()).toContain('Running');
  await page.locator('.node.is-live', { hasText: 'report' }).waitFor();
  await page.locator('.tl-row', { hasText: 'observe' }).getByText('s', { exact: false }).first().waitFor();
  await site.held.release();
  await state.getByText('Completed').waitFor();
  expect(await page.locator('.node.is-live').count()).toBe(0);
  await page.getByRole('button', { name: 'Correct' }).first().waitFor();
  expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
  expect(complaints).toEqual([]);
});

test('a refresh that was asked for before a click does not undo what was clicked', async () => {
  const { page, complaints } = await visit();
  const id = await site.start('A run whose refresh is slow');
  const asked = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  await page.route(new RegExp(`/ui/runs/${id}$`), async (route) => {
    if (route.request().resourceType() === 'fetch') {
      asked.resolve();
      await late.promise;
    }
    await route.continue();
  });
  await page.goto(`/ui/runs/${id}`);
  await asked.promise;
  await page.locator('.tabs.is-card a', { hasText: 'Log' }).click();
  await page.locator('.log.is-whole').waitFor();
  const refreshed = page.waitForResponse((response) => response.url().endsWith(id));
  late.resolve();
  await (await refreshed).finished();
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => setTimeout(painted))));
  expect(await page.locator('.log.is-whole').count()).toBe(1);
  await site.held.release();
  await page.locator('.run-state').getByText('Completed').waitFor();
  expect(complaints).toEqual([]);
});

test('a step is chosen by its box; its tabs are addresses that can be shared', async () => {
  const { page, complaints } = await visit();
  await page.goto(`/ui/runs/${runId}`);
  await page.locator('.graph a', { hasText: 'observe' }).click();
  await page.locator('#step h2', { hasText: 'observe' }).waitFor();
  await page.locator('#step .tabs a', { hasText: 'Prompt' }).click();
  await page.waitForURL(/step=observe&tab=prompt/);
  await page.locator('#step pre.text').waitFor();
  await page.reload();
  await page.locator('#step pre.text').waitFor();
  for (const [tab, content] of [
    ['Evidence', '.evidence'],
    ['Output', '.json-root'],
    ['Tool calls', '.tools'],
    ['Log', '.log'],
    ['Cost', '.pairs'],
  ] as const) {
    await page.locator('#step .tabs a', { hasText: tab }).click();
    await page.locator(`#step ${content}`).first().waitFor();
  }
  await page.goBack();
  await page.locator('#step .log').waitFor();
  expect(complaints).toEqual([]);
});

test('a mark is stored and shown, by button for a step and by key for the run', async () => {
  const { page, complaints } = await visit();
  const id = await site.finish('A run to mark');
  await page.goto(`/ui/runs/${id}?step=observe`);
  await page.locator('.panel-foot').getByRole('button', { name: 'Partial' }).click();
  await page.locator('.panel-foot [aria-pressed="true"]', { hasText: 'Partial' }).waitFor();
  await page.keyboard.press('y');
  await page.locator('.run-mark [aria-pressed="true"]', { hasText: 'Correct' }).waitFor();
  const stored = (path: string) =>
    call<{ feedback: { outcome: string } }>(`${site.url}/runs/${id}${path}`, { token: site.tokens.viewer }).then(
      ({ body }) => body.feedback.outcome,
    );
  expect([await stored('/steps/observe/feedback'), await stored('/feedback')]).toEqual(['partial', 'correct']);
  expect(complaints).toEqual([]);
});

test('the queue of answers is gone through by keys, and what is marked leaves it', async () => {
  const { page, complaints } = await visit();
  const older = await site.finish('Older answer to judge');
  const newer = await site.finish('Newer answer to judge');
  await page.goto('/ui/marking');
  const answers = page.locator('[data-marking] .answer');
  const of = (run: string) => page.locator(`.answer[data-mark*="${run}"]`);
  await of(newer).first().waitFor();
  const before = { newer: await of(newer).count(), older: await of(older).count(), all: await answers.count() };
  await page.keyboard.press('j');
  await page.keyboard.press('y');
  await expect.poll(() => of(newer).count()).toBe(before.newer - 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => of(newer).count()).toBe(before.newer);
  await page.keyboard.press('j');
  await page.keyboard.press('y');
  await expect.poll(() => of(newer).count()).toBe(before.newer - 1);
  await page.keyboard.press('n');
  await expect
    .poll(async () => (await of(newer).count()) + (await of(older).count()))
    .toBe(before.newer + before.older - 2);
  expect(complaints).toEqual([]);
});

test('the list is walked, marked and searched by keys', async () => {
  const { page, complaints } = await visit();
  const older = await site.finish('Older of two');
  const newer = await site.finish('Newer of two');
  await page.goto('/ui/runs');
  const focused = () => page.evaluate(() => document.activeElement?.closest('[data-row]')?.id);
  await page.keyboard.press('j');
  expect(await focused()).toBe(`run-${newer}`);
  await page.keyboard.press('j');
  expect(await focused()).toBe(`run-${older}`);
  await page.keyboard.press('n');
  await page.getByText('Marked incorrect: Older of two').waitFor();
  const { body } = await call<{ feedback: { outcome: string } }>(`${site.url}/runs/${older}/feedback`, {
    token: site.tokens.viewer,
  });
  expect(body.feedback.outcome).toBe('incorrect');
  await page.locator(`#run-${older}`).getByText('Marked incorrect').waitFor({ state: 'attached' });
  await page.keyboard.press('y');
  await page.getByText('Marked correct: Older of two').waitFor();
  await page.keyboard.press('u');
  await page.getByText('Undone: Marked incorrect').waitFor();
  await page.locator(`#run-${older}`).getByText('Marked incorrect').waitFor({ state: 'attached' });
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/ui/runs/${newer}`);
  await page.goBack();
  await page.keyboard.press('/');
  await page.keyboard.type('Older of');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=Older/);
  expect(await page.locator('[data-row]').count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('figures of a run have the same room on the page of its pipeline as in the list', async () => {
  const { page } = await visit({ width: 1440 });
  const widths = async (path: string) => {
    await page.goto(path);
    const cells = page.locator('.runs tbody tr').first().locator('.c-duration, .c-cost');
    return cells.evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().width));
  };
  expect(await widths('/ui/pipelines/held')).toEqual(await widths('/ui/runs'));
});

test('newer runs announce themselves and do not move the list', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/runs');
  const first = page.locator('[data-row]').first();
  const before = [await first.getAttribute('id'), (await first.boundingBox())?.y];
  const id = await site.finish('A newer run');
  await page.getByText('1 new run').waitFor();
  expect([await first.getAttribute('id'), (await first.boundingBox())?.y]).toEqual(before);
  await page.getByText('1 new run').click();
  await page.locator(`#run-${id}`).waitFor();
  expect(complaints).toEqual([]);
});

test('a viewer may look but is offered no mark and no cancel', async () => {
  const { page } = await visit({}, site.tokens.viewer);
  const id = await site.start('A run to look at');
  await page.goto(`/ui/runs/${id}`);
  await page.locator('.run-state').getByText('Running').waitFor();
  expect(await page.locator('summary', { hasText: 'Cancel run' }).count()).toBe(0);
  await site.held.release();
  await page.locator('.run-state').getByText('Completed').waitFor();
  expect(await page.getByRole('button', { name: 'Correct' }).count()).toBe(0);
});

test('an operator cancels a run from its page', async () => {
  const { page, complaints } = await visit();
  const id = await site.start('A run to cancel');
  await page.goto(`/ui/runs/${id}`);
  await page.locator('.node.is-live', { hasText: 'report' }).waitFor();
  await site.held.reached();
  await page.locator('summary', { hasText: 'Cancel run' }).click();
  await page.getByText('Stops this run.').waitFor();
  await page.getByRole('button', { name: 'Cancel this run' }).click();
  await page.locator('.run-state').getByText('Cancelled').waitFor();
  await site.held.release();
  expect(complaints).toEqual([]);
});

test('an operator runs a run again from a step, and the first results are taken over', async () => {
  const { page, complaints } = await visit();
  const id = await site.finish('A run to repeat');
  await page.goto(`/ui/runs/${id}?step=report`);
  await page.locator('summary', { hasText: 'Rerun from here' }).click();
  await page.locator('.panel-foot').getByText('These steps asked no agent.').waitFor();
  await page.getByRole('button', { name: 'Start the rerun' }).click();
  await page.getByText('1 result taken over and not run again: observe.').waitFor();
  const again = new URL(page.url()).pathname;
  expect(again).not.toBe(`/ui/runs/${id}`);
  await page.locator('.node.is-dashed', { hasText: 'Taken over' }).waitFor();
  await site.held.release();
  await page.locator('.run-state').getByText('Completed').waitFor();
  await page.locator('.tabs.is-card a', { hasText: 'Log' }).click();
  await page.locator('.log.is-whole', { hasText: 'run_completed' }).waitFor();
  // Both runs lead to each other.
  await page.getByRole('note').locator('.mono').click();
  await page.waitForURL(`**/ui/runs/${id}`);
  await page.locator('#reruns .row-link').click();
  await page.waitForURL(`**${again}`);
  expect(complaints).toEqual([]);
});

test('two runs that were ticked in the list stand side by side', async () => {
  const { page, complaints } = await visit();
  for (const name of ['first', 'second']) await site.finish(`The ${name} run of two`);
  await page.goto('/ui/runs?q=run+of+two');
  const compare = page.getByRole('button', { name: 'Compare' });
  expect(await compare.isVisible()).toBe(false);
  for (const box of await page.getByRole('checkbox').all()) await box.check();
  await compare.click();
  await page.waitForURL('**/compare/**');
  expect(await page.locator('.compare-head .link').allTextContents()).toEqual([
    'The first run of two',
    'The second run of two',
  ]);
  await page.locator('summary', { hasText: 'observe' }).waitFor();
  expect(complaints).toEqual([]);
});

test('other criteria are tried in the form, and nothing changes', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/pipelines/held');
  const card = page.locator('#readiness');
  await card.getByText(/Accuracy: not enough yet; \d of 20 marked results/).waitFor();
  expect(await card.locator('.matrix tbody tr').count()).toBe(2);
  await card.getByText('Try other criteria').click();
  await card.getByLabel('Accuracy').uncheck();
  await card.getByLabel('Runs needed').fill('3000');
  await card.getByRole('button', { name: 'Try' }).click();
  await page.waitForURL(/whatif=1/);
  await card.getByText('With these criteria: collecting evidence').waitFor();
  expect(await card.locator('pre code').textContent()).toBe('readiness:\n  operational:\n    min_runs: 3000');
  await card.getByText(/in place of line \d/).waitFor();
  await card.getByRole('link', { name: 'Back to what holds' }).click();
  await card.getByText(/Accuracy: not enough yet; \d of 20 marked results/).waitFor();
  expect(complaints).toEqual([]);
});

test("a mark shows on the step's page, which leads to the text that the agent had in that run", async () => {
  const { page, complaints } = await visit();
  await page.goto(`/ui/runs/${runId}?step=observe`);
  await page.locator('#step').getByRole('button', { name: 'Partial' }).click();
  await page.locator('#step .mark-partial[aria-pressed="true"]').waitFor();
  await page.goto('/ui/pipelines/held');
  await page.getByRole('link', { name: 'observe', exact: true }).click();
  await page.waitForURL('**/ui/steps/observe');
  await page.getByText(/Too few marks to tell: the fullest bin has \d+ of the 20 that it needs\./).waitFor();
  await page.locator('summary', { hasText: 'The numbers' }).click();
  await page.getByRole('cell', { name: /^\d+%$/ }).waitFor();
  const prompt = page.locator('.versions > li', { hasText: 'in use' });
  expect(await prompt.locator('.yaml').innerText()).toContain('{{summary}}');
  await page.locator('.bucket-key .link').last().click();
  await page.waitForURL('**/ui/agents/machine-reader#version-*');
  const soul = page.locator('.versions .schema', { hasText: 'soul.md' });
  await waitFor(
    async () => {
      await page.reload();
      return soul.isVisible();
    },
    { what: 'the text of the agent to be there' },
  );
  expect(await page.locator('.versions').innerText()).toContain('read_load');
  expect(complaints).toEqual([]);
});

const PAGES = () => [
  '/ui/',
  '/ui/runs',
  `/ui/runs/${runId}`,
  `/ui/runs/${runId}?step=observe&tab=tools`,
  '/ui/pipelines',
  '/ui/pipelines/held',
  '/ui/pipelines/held?whatif=1&accuracy=on&accuracy.min_marked=1&calibration=on&apply_to=observe',
  '/ui/steps',
  '/ui/steps/read-machine',
  '/ui/steps/observe',
  '/ui/agents',
  '/ui/agents/machine-reader',
  '/ui/schedules',
  '/ui/tools',
  '/ui/insights',
  '/ui/insights?stage=all&time_range=24h',
  '/ui/teams',
  '/ui/validate',
  '/ui/pipelines/held/run',
  '/ui/sync',
  '/ui/audit',
  '/ui/docs',
  '/ui/docs/runs',
  '/ui/docs/definitions',
  '/ui/docs/replay',
  `/ui/runs/${runId}?view=log`,
  `/ui/runs/${runId}/compare/${runId}`,
  '/ui/golden-sets',
  `/ui/golden-sets/${goldenSetId}`,
  `/ui/golden-sets/pin?run=${runId}&step=observe`,
  '/ui/marking',
  `/ui/audit?open=${auditId}`,
  '/ui/nothing-here',
];
/** Without compression. */
const MAX_PAGE_BYTES = 200 * 1024;
const LOOKS: Look[] = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 1440 },
  { theme: 'light', width: 390, height: 844 },
  { theme: 'dark', width: 390, height: 844 },
];

test.each(LOOKS)('every page is readable: $theme at $width px', async (look) => {
  const { page, complaints } = await visit(look);
  for (const path of PAGES()) {
    const answer = await page.goto(path);
    const bytes = (await answer?.body())?.length ?? 0;
    expect([path, bytes > 0 && bytes < MAX_PAGE_BYTES]).toEqual([path, true]);
    expect([path, await scrollsSideways(page)]).toEqual([path, false]);
    expect([path, await page.evaluate(contrastMisses)]).toEqual([path, []]);
    const folder = process.env['SCREENSHOTS'];
    if (folder)
      await page.screenshot({ path: `${folder}/${look.width}-${look.theme}${path.replaceAll(/\W+/g, '-')}.png` });
  }
  expect(complaints).toEqual([]);
});

test('every figure of a row leads to the runs behind it, its name to what it is about', async () => {
  const { page, complaints } = await visit();
  const row = page.locator('tr', { has: page.getByRole('rowheader', { name: 'held' }) });
  await page.goto('/ui/insights');
  await row.getByRole('cell').last().click({ force: true });
  await page.waitForURL(/\/ui\/runs\?.*pipeline=held/);
  await page.goto('/ui/insights');
  await row.getByRole('rowheader').getByRole('link').click();
  await page.waitForURL('**/ui/pipelines/held');
  expect(complaints).toEqual([]);
});

test('the state of an object leads to its definition, and the list can be narrowed to what needs someone', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/sync');
  await page.getByText('8 objects, 5 not ready').waitFor();
  await page.getByLabel('State').selectOption('trouble');
  await page.waitForURL(/state=trouble/);
  expect(await page.locator('[data-row]').count()).toBe(5);
  await page.getByRole('link', { name: 'Clear' }).click();
  await page.getByRole('link', { name: 'managed', exact: true }).click();
  await page.waitForURL('**/ui/pipelines/managed');
  await page.getByRole('heading', { name: 'managed', exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test('a pale text and an inline style would not go unnoticed', async () => {
  const { page, complaints } = await visit();
  await page.locator('h1').evaluate((heading) => heading.style.setProperty('color', '#bbb'));
  expect(await page.evaluate(contrastMisses)).toEqual([expect.stringContaining('Overview')]);
  await page
    .locator('h1')
    .evaluate((heading) => heading.insertAdjacentHTML('beforeend', '<i style="color: red">x</i>'));
  await waitFor(() => complaints.length > 0, { what: 'the browser to complain' });
  expect(complaints[0]).toContain('Content Security Policy');
});

test('the theme can be chosen by hand and stays', async () => {
  const { page, context, complaints } = await visit({ theme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole('button', { name: /^Theme/ }).click();
  await waitFor(async () => (await background()) !== dark, { what: 'the light theme' });
  const isKept = async () =>
    (await context.cookies()).some(({ name, value }) => /theme/.test(name) && value === 'light');
  await waitFor(isKept, { what: 'the choice to be kept' });
  const light = await background();
  await page.reload();
  expect(await background()).toBe(light);
  expect(complaints).toEqual([]);
});

test('everything but the live parts works without script', async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  await page.goto('/ui/runs');
  await page.getByRole('link', { name: 'The first run', exact: true }).click();
  await page.locator('.tabs a', { hasText: 'Output' }).click();
  await page.locator('#step').waitFor();
  await page.locator('.run-mark').getByRole('button', { name: 'Incorrect' }).click();
  await page.locator('.run-mark [aria-pressed="true"]', { hasText: 'Incorrect' }).waitFor();
});

/** What people look for on a page and would not find beyond its edge. */
const offScreen = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main :is(h1, h2, .status, .chip .icon, .line-title, .row-link, .crumbs span)')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > window.innerWidth)
      .map((element) => element.outerHTML.slice(0, 80)),
  );

test.each([390, 1440])('the longest names there may be stay on a screen of %d px', async (width) => {
  const token = site.tokens.admin;
  const name = 'n'.repeat(64);
  const wide = 'W'.repeat(300);
  const step = `{name: ${name}, executor: human, prompt_template: x, timeout_seconds: 60}`;
  const yaml = `name: ${name}\ndescription: ${wide}\nversion: ${wide.slice(0, 64)}\ntags: [${name}]\nsteps: [${step}]\n`;
  await call(`${site.url}/pipelines`, { token, body: { yaml, overwrite: true } });
  const started = await call<{ run_id: string }>(`${site.url}/pipelines/${name}/run`, {
    token,
    body: { summary: wide },
  });
  const id = started.body.run_id;
  const { page } = await visit({ width });
  const asked = () => call<{ approvals: unknown[] }>(`${site.url}/approvals?run=${id}`, { token });
  await waitFor(async () => (await asked()).body.approvals.length > 0, { what: 'the question of the run' });
  const paths = ['/ui/', '/ui/approvals', '/ui/pipelines', `/ui/pipelines/${name}`, '/ui/runs', `/ui/runs/${id}`];
  for (const path of [...paths, '/ui/audit', '/ui/marking', `/ui/runs?team=${name}&source=${name}&pipeline=${name}`]) {
    await page.goto(path);
    expect([path, await scrollsSideways(page), await offScreen(page)]).toEqual([path, false, []]);
  }
  await call(`${site.url}/runs/${id}/cancel`, { token, body: {} });
});
