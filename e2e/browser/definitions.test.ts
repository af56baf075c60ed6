import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { call } from '../support/call.ts';
import { logIn, openPage } from './chromium.ts';
import { openSite, type Site } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite({ managed: true });
});
afterAll(() => site?.close());

async function visit(token: string) {
  const opened = await openPage(site.browser, site.url);
  onTestFinished(() => opened.context.close());
  await logIn(opened.page, token);
  return opened;
}

const WRONG = `name: disk-check
description: Looks at a full disk
trigger:
  match: { alertname: DiskFull, severity: { in: [warning, critical] } }
steps:
  - name: look
    executor: gateway
    agent: machine-reader
    promt_template: "Look at the disk of {{labels.instance}}: {{summary}}"
`;

test('a pipeline is written, dry-run, run and suspended without a terminal', async () => {
  const { page, complaints } = await visit(site.tokens.admin);
  await page.getByRole('link', { name: 'Validate' }).first().click();
  await page.getByLabel('YAML').fill(WRONG);
  await page.getByRole('button', { name: 'Validate' }).click();
  await page.getByText('unknown key "promt_template"').waitFor();
  await page.getByRole('link', { name: 'line 9' }).click();
  expect(await page.locator('tr.is-bad').last().innerText()).toContain('promt_template');
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);

  await page.getByLabel('YAML').fill(WRONG.replace('promt_', 'prompt_'));
  await page.getByRole('button', { name: 'Validate' }).click();
  await page.getByText('Valid. It would load as it is.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Open disk-check' }).click();

  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('A run would start at once.').waitFor();
  expect(await page.getByText('Matches', { exact: true }).count()).toBe(2);
  await page.getByText('Look at the disk of host-1:9100: A sample alert, started by hand').waitFor();
  await page.getByRole('button', { name: 'Run disk-check' }).click();
  await page.waitForURL(/\/ui\/runs\/[0-9a-f-]{36}$/);
  await page.getByRole('heading', { name: 'A sample alert, started by hand' }).waitFor();

  await page.goto('/ui/pipelines/disk-check');
  expect(await page.locator('.strip li').count()).toBe(1);
  await page.locator('summary.button', { hasText: 'Suspend' }).click();
  await page.getByRole('button', { name: 'Suspend this pipeline' }).click();
  await page.locator('.chip', { hasText: 'suspended' }).waitFor();
  expect(await page.locator('.yaml').innerText()).toContain('suspend: true');
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('resume it to accept triggers').waitFor();
  expect(await page.getByRole('button', { name: 'Run disk-check' }).count()).toBe(0);
  expect(complaints).toEqual([]);

  const { body } = await call<{ rows: { action: string; actor: string }[] }>(`${site.url}/audit?target=disk-check`, {
    token: site.tokens.viewer,
  });
  expect(body.rows.map(({ action }) => action).toSorted()).toEqual(['create', 'run', 'suspend']);
  expect(new Set(body.rows.map(({ actor }) => actor))).toEqual(new Set(['local-admin']));
});

test('a definition as long as may be is judged on the page, and its text stays in the form', async () => {
  const { page, complaints } = await visit(site.tokens.admin);
  await page.goto('/ui/validate');
  const long = WRONG + `# ${'&<>'.repeat(80_000)}\n`;
  await page.getByLabel('YAML').fill(long);
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'Validate' }).click();
  await page.getByText('unknown key "promt_template"').waitFor();
  expect((await (await answer).body()).length).toBeLessThan(200_000);
  expect(await page.getByLabel('YAML').inputValue()).toBe(long);
  expect(complaints).toEqual([]);
});

test('the form and the dry run work without script', async () => {
  const opened = await openPage(site.browser, site.url, { javaScriptEnabled: false });
  onTestFinished(() => opened.context.close());
  const { page } = opened;
  await logIn(page, site.tokens.operator);
  await page.goto('/ui/pipelines/held/run?from=hand');
  await page.getByLabel('Summary').fill('By hand');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('A run would start at once.').waitFor();
  expect(await page.getByLabel('Summary').inputValue()).toBe('By hand');
});

test('what a controller manages is shown and not changed', async () => {
  const { page, complaints } = await visit(site.tokens.admin);
  await page.goto('/ui/pipelines/managed');
  await page.getByText(/manages this pipeline/).waitFor();
  expect(await page.locator('summary.button', { hasText: 'Suspend' }).count()).toBe(0);
  await page.goto('/ui/pipelines');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByText('Loaded just now').waitFor();
  expect(complaints).toEqual([]);
});

/** One of everything that an entry can be. */
const MIXED = `name: one-of-everything
description: Measures from several sides, asks every service and asks a person before it starts another pipeline
steps:
  - {name: measure, use: read-machine}
  - name: gather
    parallel: {steps: [{name: load, use: read-machine}, {name: memory, use: read-machine}]}
  - {name: each, fan_out: {over: '[1, 2]', step: {executor: gateway, agent: machine-reader, prompt_template: Look}}}
  - {name: ask, executor: human, prompt_template: Restart?, timeout_seconds: 60}
  - {name: again, executor: pipeline, pipeline: held}
`;

test.each([1440, 1100, 390])(
  'nothing of a pipeline with steps of every kind is cut off in the list: %i px',
  async (width) => {
    const { page } = await visit(site.tokens.admin);
    const { status } = await call(`${site.url}/pipelines`, {
      token: site.tokens.admin,
      body: { yaml: MIXED, overwrite: true },
    });
    expect(status).toBeLessThan(300);
    await page.setViewportSize({ width, height: 844 });
    await page.goto('/ui/pipelines');
    const shape = page.getByText('1 group · 1 fan-out · 1 sub-pipeline · 1 approval');
    const right = await shape.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().right;
    });
    const card = await page.locator('.card', { has: shape }).boundingBox();
    expect(right).toBeLessThanOrEqual(card!.x + card!.width);
  },
);
