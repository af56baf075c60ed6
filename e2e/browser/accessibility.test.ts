import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { call } from '../support/call.ts';
import { waitFor } from '../support/wait-for.ts';
import { violations } from './axe.ts';
import { type Look, LOOKS, logIn, openPage } from './chromium.ts';
import { focus } from './focus.ts';
import { openSite, type Site } from './site.ts';

const PLACES = [
  ['', 'runs', 'approvals', 'deliveries', 'pipelines', 'steps', 'agents', 'tools', 'schedules', 'validate'],
  [
    'insights',
    'insights?stage=all',
    'teams',
    'marking',
    'replays',
    'golden-sets',
    'audit',
    'sync',
    'docs',
    'docs/runs',
    'nothing-here',
  ],
  ['pipelines/held', 'pipelines/held/run', 'pipelines/held/run?from=sample', 'pipelines/managed'],
  ['steps/observe', 'steps/read-machine', 'agents/machine-reader', 'validate?pipeline=held'],
].flat();

let site: Site;
let paths: string[];
beforeAll(async () => {
  site = await openSite({ managed: true });
  const token = site.tokens.admin;
  const run = await site.finish('A run to look at');
  const post = <T>(path: string, body: object) => call<T>(`${site.url}${path}`, { token, body });
  await post(`/runs/${run}/steps/observe/feedback`, { outcome: 'correct' });
  const set = { name: 'machine', step_name: 'observe', description: 'Readings that were right' };
  const { id } = (await post<{ id: string }>('/golden-sets', set)).body;
  await post(`/golden-sets/${id}/members`, { run_id: run, step_name: 'observe', note: 'Quiet' });
  await asks(token);
  const { deliveries } = (await call<{ deliveries: { id: number }[] }>(`${site.url}/deliveries`, { token })).body;
  const tabs = ['evidence', 'prompt', 'output', 'tools', 'log', 'cost'];
  paths = [
    PLACES,
    tabs.map((tab) => `runs/${run}?step=observe&tab=${tab}`),
    [`runs/${run}?view=log`, `runs/${run}/compare/${run}`, `deliveries/${deliveries[0]!.id}`],
    [`golden-sets/${id}`, `golden-sets/pin?run=${run}&step=observe`, 'replays/new?step=observe'],
  ]
    .flat()
    .map((path) => `/ui/${path}`);
});
afterAll(() => site?.close());

/** A run that waits for an answer, so that the page of approvals has one. */
async function asks(token: string) {
  const step = '{name: ask, executor: human, prompt_template: "Restart {{summary}}?", timeout_seconds: 600}';
  await call(`${site.url}/pipelines`, { token, body: { yaml: `name: asking\nsteps: [${step}]\n` } });
  await call(`${site.url}/pipelines/asking/run`, { token, body: { summary: 'checkout' } });
  const waits = async () =>
    (await call<{ approvals: unknown[] }>(`${site.url}/approvals?status=pending`, { token })).body.approvals.length > 0;
  await waitFor(waits, { what: 'the question' });
}

async function visit(look: Look) {
  const opened = await openPage(site.browser, site.url, look);
  onTestFinished(() => opened.context.close());
  await logIn(opened.page, site.tokens.admin);
  return opened.page;
}

test.each(LOOKS)('no page breaks a rule of axe: $theme at $width px', async (look) => {
  const page = await visit(look);
  const found: Record<string, string[]> = {};
  for (const path of paths) {
    await page.goto(path);
    const misses = await violations(page);
    if (misses.length > 0) found[path] = misses;
  }
  expect(found).toEqual({});
});

test('no page is wider than a phone, whatever is unfolded', async () => {
  const page = await visit({ width: 390, height: 844 });
  const wide: string[] = [];
  for (const path of paths) {
    await page.goto(path);
    const width = await page.evaluate(() => {
      for (const folded of document.querySelectorAll('details')) folded.open = true;
      return document.documentElement.scrollWidth;
    });
    if (width > 390) wide.push(`${path}: ${width} px`);
  }
  expect(wide).toEqual([]);
});

test('a button without a name would not go unnoticed', async () => {
  const page = await visit({});
  await page.locator('main').evaluate((main) => main.append(document.createElement('button')));
  expect(await violations(page)).toEqual([expect.stringContaining('button-name')]);
});

test('the palette and the keys break no rule of axe either, and go anywhere without the mouse', async () => {
  const page = await visit({});
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('dialog', { name: 'Go to' }).getByRole('combobox');
  await field.fill('held');
  await page.getByRole('option', { name: 'held Pipeline', selected: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(page.url()).toMatch(/\/ui\/$/);
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'Run held', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/ui/pipelines/held/run');
  const run = paths.map((path) => /runs\/([^?/]+)/.exec(path)?.[1]).find(Boolean)!;
  await page.keyboard.press('Control+k');
  await field.fill(run.slice(0, 24));
  await page.getByRole('option', { name: 'A run to look at' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/ui/runs/${run}`);
});

const clickFirst = (page: Page, selector: string) => page.locator(selector).first().click();

/** What people open on pages, by page. */
const STATES: [string, string, (page: Page) => Promise<void>][] = [
  ['the form that saves a view', 'runs?q=look', (page) => page.getByText('Save view').click()],
  ['the filters', 'runs', (page) => clickFirst(page, '.filter-more summary')],
  ['a chosen row', 'runs', (page) => clickFirst(page, 'tbody [data-pick]')],
  [
    'the question before a suspension',
    'pipelines/held',
    (page) => clickFirst(page, 'summary.button:has-text("Suspend")'),
  ],
  ['the commands of a pipeline', 'pipelines/held', (page) => clickFirst(page, 'summary.button:has-text("curl")')],
  ['an approval', 'approvals', (page) => clickFirst(page, '.ask > summary')],
  ['errors of a definition', 'validate', judgeWrong],
];

async function judgeWrong(page: Page) {
  await page.getByLabel('YAML').fill('name: x\nsteps: [{name: a, executor: gatway}]\n');
  await page.getByRole('button', { name: 'Validate' }).click();
  await page.getByText('1 error').waitFor();
}

test.each([1440, 390])('no open part of a page breaks a rule of axe: %i px', async (width) => {
  const page = await visit({ width });
  const found: Record<string, string[]> = {};
  for (const [name, path, open] of STATES) {
    await page.goto(`/ui/${path}`);
    await open(page);
    const misses = await violations(page);
    if (misses.length > 0) found[name] = misses;
  }
  expect(found).toEqual({});
});

test.each(['pipelines/held', 'pipelines/held/run', 'validate', 'insights?stage=all', 'runs'])(
  'every action of %s is reached by Tab, and the focus is seen at each',
  async (path) => {
    const page = await visit({});
    await page.goto(`/ui/${path}`);
    const unseen: string[] = [];
    let reached = 0;
    for (let at = await press(page); at !== null && reached < 200; at = await press(page)) {
      reached += 1;
      if (!at.shown) unseen.push(at.name);
    }
    expect(unseen).toEqual([]);
    const actions = await page
      .locator('main :is(a[href]:not([tabindex]), button, summary, input:not([type=hidden]))')
      .evaluateAll(
        (all) => all.filter((element) => element.checkVisibility() && !element.closest('[tabindex="-1"] a')).length,
      );
    expect(reached).toBeGreaterThanOrEqual(Math.min(actions, 190));
  },
);

async function press(page: Page) {
  await page.keyboard.press('Tab');
  return focus(page);
}

test('times are in the zone of the reader, and in UTC on hover', async () => {
  const context = await site.browser.newContext({ baseURL: site.url, timezoneId: 'Asia/Tokyo' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await logIn(page, site.tokens.viewer);
  const run = paths.find((path) => path.includes('/ui/runs/'))!;
  await page.goto(run);
  const time = page.locator('.facts time', { hasText: 'GMT+9' }).first();
  const [local, utc] = [await time.textContent(), await time.getAttribute('title')];
  expect(utc).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  const hours =
    (Date.parse(`${local!.slice(0, 19).replace(' ', 'T')}Z`) - Date.parse(`${utc!.slice(0, 19).replace(' ', 'T')}Z`)) /
    3_600_000;
  expect(hours).toBe(9);
});

test('ids, prompts and outputs are copied by a button', async () => {
  const context = await site.browser.newContext({
    baseURL: site.url,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await logIn(page, site.tokens.viewer);
  const copied = async (name: string) => {
    await page
      .getByRole('button', { name: `Copy ${name}` })
      .first()
      .click();
    await page.getByRole('status').getByText('Copied').waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const run = paths.map((path) => /runs\/([^?/]+)/.exec(path)?.[1]).find(Boolean)!;
  await page.goto(`/ui/runs/${run}?step=observe&tab=prompt`);
  expect(await copied('the id')).toBe(run);
  expect(await copied('this text')).toContain('A run to look at');
  await page.goto(`/ui/runs/${run}?step=observe&tab=output`);
  const { body } = await call<{ steps: { output: object }[] }>(`${site.url}/runs/${run}`, {
    token: site.tokens.viewer,
  });
  expect(JSON.parse(await copied('as JSON'))).toEqual(body.steps[0]!.output);
  await page.goto('/ui/pipelines/held');
  await page.getByRole('button', { name: 'Copy', exact: true }).last().click();
  await page.getByRole('status').getByText('Copied').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^name: held\ndescription: /);
});
