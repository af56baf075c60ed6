import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { launch, type Look, openPage } from './chromium.ts';
import { contrastMisses } from './contrast.ts';

const scratch = scratchDirectory('signalbox-approval-');
let services: LocalServices;
let browser: Awaited<ReturnType<typeof launch>>;

beforeAll(async () => {
  services = await startLocalServices({ dataDir: scratch.path });
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await services?.stop();
  scratch.remove();
});

const url = () => services.apiServer.url;

/** A run of the sample that waits for its person, and the link a message would carry. */
async function waitingRun(): Promise<{ runId: string; link: string }> {
  const body = { pipeline: 'guarded-restart', summary: 'checkout does not answer', labels: { service: 'checkout' } };
  const answer = await call<{ run_id: string }>(`${url()}/webhook?source=generic`, {
    token: services.tokens.webhook,
    body,
  });
  const runId = answer.body.run_id;
  const waits = async () => {
    const run = await call<{ waiting_on: string | null }>(`${url()}/runs/${runId}`, { token: services.tokens.viewer });
    return run.body.waiting_on === 'human';
  };
  await waitFor(waits, { what: `run ${runId} to wait for a person` });
  return { runId, link: `/ui/runs/${runId}?step=approve` };
}

async function visit(path: string, look: Look = {}) {
  const opened = await openPage(browser, url(), look);
  onTestFinished(() => opened.context.close());
  // The link leads through the login, as on a phone that follows it for the first time.
  await opened.page.goto(path);
  await opened.page.getByLabel('Access token').fill(services.tokens.operator);
  await opened.page.getByRole('button', { name: 'Log in' }).click();
  await opened.page.waitForURL(`**${path}`);
  return opened;
}

test('from the link in a message to the finished run', async () => {
  const { link } = await waitingRun();
  const { page, complaints } = await visit(link);
  await page.getByText('Waiting for a decision').waitFor();
  await page.locator('.node', { hasText: 'approve' }).getByText('Waiting').first().waitFor({ state: 'attached' });
  expect(await page.locator('.node.is-live').count()).toBe(0);
  await page.getByLabel('replicas').fill('3');
  await page.getByLabel(/^window/).selectOption('tonight');
  await page.getByLabel(/^Comment/).fill('after the rush');
  await page.getByRole('button', { name: 'Approve' }).click();
  // The page moves on by itself to the end of the run.
  await page.locator('.run-state').getByText('Completed').waitFor();
  await page.goto(link);
  await page.locator('#step').getByText('approved by local-operator').first().waitFor();
  expect(await page.locator('.approval .pairs').innerText()).toContain('tonight');
  await page.goto('/ui/approvals');
  await page.getByText('approved by local-operator: after the rush').waitFor();
  expect(complaints).toEqual([]);
});

test('without scripts the form works all the same, and a rejection aborts the run', async () => {
  const { runId, link } = await waitingRun();
  const { page } = await visit(link, { javaScriptEnabled: false });
  await page.getByRole('button', { name: 'Reject' }).click();
  await waitFor(
    async () =>
      (await call<{ status: string }>(`${url()}/runs/${runId}`, { token: services.tokens.viewer })).body.status ===
      'aborted',
    { what: 'the run to be aborted' },
  );
});

test('an open page learns that somebody else decided', async () => {
  const { link, runId } = await waitingRun();
  const { page } = await visit(link);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  const { body } = await call<{ approvals: { id: string }[] }>(`${url()}/approvals?run=${runId}`, {
    token: services.tokens.viewer,
  });
  await call(`${url()}/approvals/${body.approvals[0]?.id ?? ''}`, {
    token: services.tokens.admin,
    body: { decision: 'reject' },
  });
  await page.locator('.run-state').getByText('Aborted').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
});

test.each([
  { width: 1440, theme: 'light' },
  { width: 1440, theme: 'dark' },
  { width: 390, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const)('questions are readable and fit: $width px, $theme', async (look) => {
  const { link } = await waitingRun();
  const { page, complaints } = await visit('/ui/approvals', look);
  for (const path of ['/ui/approvals', link, '/ui/']) {
    await page.goto(path);
    await page.getByText('guarded-restart').first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)]).toEqual([
      path,
      true,
    ]);
    expect([path, await page.evaluate(contrastMisses)]).toEqual([path, []]);
    if (process.env['SCREENSHOTS']) {
      const name = path === link ? 'run' : path.replaceAll('/', '-');
      await page.screenshot({
        path: `${process.env['SCREENSHOTS']}/${look.width}-${look.theme}-${name}.png`,
        fullPage: true,
      });
    }
  }
  expect(complaints).toEqual([]);
});
