import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A busy machine takes its time. */
const PATIENCE_MS = 60_000;

/** Debian's browser, or the one that CHROMIUM names. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    timeout: 2 * PATIENCE_MS,
  });

export interface Watched {
  context: BrowserContext;
  page: Page;
  /** Errors of scripts, of the console (violations of the content security policy among them) and answers from 500 on. */
  complaints: string[];
}

export interface Look {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
  javaScriptEnabled?: boolean;
}

/** Both themes, at a desk and on a phone. */
export const LOOKS: Look[] = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 1440 },
  { theme: 'light', width: 390, height: 844 },
  { theme: 'dark', width: 390, height: 844 },
];

/** A fresh profile with one page that remembers whatever went wrong in it. */
export async function openPage(browser: Browser, baseURL: string, look: Look = {}): Promise<Watched> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width: look.width ?? 1440, height: look.height ?? 900 },
    colorScheme: look.theme ?? 'light',
    javaScriptEnabled: look.javaScriptEnabled ?? true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => {
    const expected = /status of (401|404)/.test(message.text());
    if (message.type() === 'error' && !expected) complaints.push(`console: ${message.text()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} ${response.url()}`);
  });
  return { context, page, complaints };
}

/** Logs in through the form, as people do. */
export async function logIn(page: Page, token: string): Promise<void> {
  await page.goto('/ui/login');
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL('**/ui/');
}
