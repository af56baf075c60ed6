import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { alertmanagerPayload } from '../demo/alert.ts';
import { call } from '../support/call.ts';
import { waitFor } from '../support/wait-for.ts';
import { violations } from './axe.ts';
import { type Look, LOOKS, logIn, openPage } from './chromium.ts';
import { focus } from './focus.ts';
import { openSite, type Site } from './site.ts';

const RUNS = 200;
const ON_A_PAGE = 50;
/** Nobody listens there, so every run fails and needs a person. */
const FAILING = `name: failing
stage: production
steps: [{name: call, executor: webhook, url: "http://127.0.0.1:1/", timeout_seconds: 5}]
`;

let site: Site;
beforeAll(async () => {
  site = await openSite();
  writeFileSync(join(site.held.dir, 'failing.yaml'), FAILING);
  await call(`${site.url}/reload`, { token: site.tokens.admin, body: {} });
  for (let n = 0; n < RUNS; n++) {
    const zone = `eu-${String(n).padStart(3, '0')}`;
    const alertname = n === 17 ? 'PaymentsLatency' : 'DiskFull';
    const body = alertmanagerPayload({
      labels: { alertname, zone, severity: 'critical', pipeline: 'failing' },
      annotations: { summary: `Zone ${zone} is slow` },
    });
    const send = () => call(`${site.url}/webhook?source=alert_router`, { token: site.tokens.webhook, body });
    await waitFor(async () => (await send()).status === 202, { what: `run ${n} to be accepted` });
  }
  const open = async () => {
    const { body } = await call<{ total: number }>(`${site.url}/runs?attention=open`, { token: site.tokens.viewer });
    return body.total === RUNS;
  };
  await waitFor(open, { what: `${RUNS} runs to need a person` });
});
afterAll(() => site?.close());

async function visit(look: Look = {}) {
  const opened = await openPage(site.browser, site.url, look);
  onTestFinished(() => opened.context.close());
  await logIn(opened.page, site.tokens.operator);
  return opened;
}

test('from the overview to the right one, resolved as a false alarm, in five actions', async () => {
  const { page, complaints } = await visit();
  await page
    .getByRole('link', { name: /Waiting for you/ })
    .first()
    .click();
  await page.waitForURL('**/ui/runs?attention=open');
  expect(await page.locator('tbody .why').first().textContent()).toContain('call: ');
  await page.getByLabel('Search', { exact: true }).fill('eu-017');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=eu-017/);
  expect(await page.locator('tbody tr').count()).toBe(1);
  await page.locator('tbody .row-link').click();
  await page.getByLabel('Resolution').selectOption('false_alarm');
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('False alarm, by local-operator').waitFor();
  // The label of its alert leads to the runs that have it.
  await page.getByRole('link', { name: 'alertname PaymentsLatency' }).click();
  await page.waitForURL('**/ui/runs?label=alertname%3APaymentsLatency');
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('from the overview to the right one among 200, resolved as a false alarm, without a mouse', async () => {
  const { page, complaints } = await visit();
  const unseen: string[] = [];
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
    const at = await focus(page);
    if (at && !at.shown) unseen.push(at.name);
    return at?.name ?? '';
  };
  const tabTo = async (what: RegExp) => {
    for (let stop = 0; stop < 60; stop += 1) if (what.test(await press('Tab'))) return;
    throw new Error(`no stop of 60 is ${what}`);
  };
  await tabTo(/href="\/ui\/runs\?attention=open"/);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/ui/runs?attention=open');
  await press('/');
  await page.keyboard.type('eu-117');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=eu-117/);
  await press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Zone eu-117 is slow' }).waitFor();
  await tabTo(/name="resolution"/);
  await page.keyboard.type('False');
  await tabTo(/value="resolve"/);
  await page.keyboard.press('Enter');
  await page.getByText('False alarm, by local-operator').waitFor();
  expect(unseen).toEqual([]);
  expect(complaints).toEqual([]);
});

test('rows are chosen and acted on by keyboard alone', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/runs?attention=open');
  for (const key of ['a', 'j', 'x', 'j', 'x', 'a']) await page.keyboard.press(key);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Acknowledge…');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Acknowledge 2 runs' }).waitFor();
  expect(complaints).toEqual([]);
});

test.each(LOOKS)('what can be done with chosen rows covers none of them: $theme at $width px', async (look) => {
  const { page, complaints } = await visit(look);
  await page.goto('/ui/runs?status=failed');
  for (const row of [0, 1]) await page.locator('tbody [data-pick]').nth(row).click();
  const bar = (await page.locator('.pick-bar').boundingBox())!;
  const bottomOf = async (selector: string) => {
    const box = (await page.locator(selector).last().boundingBox())!;
    return box.y + box.height;
  };
  // From the box that was ticked last, and never below the bar.
  for (let row = 2; row < ON_A_PAGE; row += 1) {
    await page.keyboard.press('j');
    expect(await bottomOf('tr:has(.row-link:focus)')).toBeLessThanOrEqual(bar.y);
  }
  const found: string[] = [];
  // Wherever the bar cuts a row.
  for (let top = 200; top < 264; top += 16) {
    await page.evaluate((y) => scrollTo(0, y), top);
    found.push(...(await violations(page)));
  }
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  found.push(...(await violations(page)));
  expect(await bottomOf('main > :not(.keys, input)')).toBeLessThanOrEqual(bar.y);
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
});

test('thirty runs are chosen with one click and Shift, and marked together', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/runs?status=failed');
  await page.locator('tbody [data-pick]').first().click();
  await page
    .locator('tbody [data-pick]')
    .nth(29)
    .click({ modifiers: ['Shift'] });
  expect(await page.locator('[data-picked]').textContent()).toBe('30');
  await page.getByRole('button', { name: 'Mark…' }).click();
  await page.getByLabel('Outcome').selectOption('correct');
  await page.getByRole('button', { name: 'Mark 30 runs' }).click();
  await page.getByRole('heading', { name: '30 runs marked' }).waitFor();
  await page.getByRole('button', { name: 'Undo these marks' }).click();
  await page.waitForURL('**/ui/runs?status=failed');
  expect(await page.getByText('Marked correct').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('filters become a named view, which opens from its address', async () => {
  const { page, complaints } = await visit();
  await page.goto('/ui/runs');
  await page.locator('.filter-more summary').click();
  await page.getByLabel('Alert name').fill('DiskFull');
  await page.locator('select[name=last]').selectOption('24h');
  await page.locator('.filter-panel').getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/last=24h/);
  expect(await page.locator('.filter-chips .chip').allInnerTexts()).toEqual(['alert: DiskFull', 'Last 24 hours']);
  await page.getByText('Save view').click();
  await page.getByPlaceholder('Name').fill('Disks today');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const view = page.getByRole('link', { name: 'Disks today' });
  const address = await view.getAttribute('href');
  await page.goto('/ui/runs');
  await page.goto(address ?? '');
  expect(await view.getAttribute('aria-current')).toBe('page');
  expect(await page.locator('.page-head').innerText()).toContain(`${RUNS - 1} runs`);
  await page.locator('.filter-chips .chip').first().click();
  await page.waitForURL('**/ui/runs?last=24h');
  expect(complaints).toEqual([]);
});
