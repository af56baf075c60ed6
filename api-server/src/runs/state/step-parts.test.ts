import { expect, test } from 'vitest';
import { shownUrl } from './step-parts.ts';

test.each([
  ['https://hooks.example/a?api_key=abc&x=1', 'https://hooks.example/a?api_key=***&x=1'],
  ['https://bob:hunter2@hooks.example/', 'https://hooks.example/'],
  ['https://hooks.example/top-secret', 'https://hooks.example/***'],
  ['top-secret/health?token=abc&x=1', '***/health?token=***&x=1'],
  ['https://hooks.example/@me?x=1#sig=2', 'https://hooks.example/@me?x=1#sig=2'],
  ['not a url', 'not a url'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url, (text) => text.replaceAll('top-secret', '***'))).toBe(shown);
});

const LONG = 1024 * 1024;
test.each([
  ['of names of credentials', `https://hooks.example/?${'token'.repeat(LONG / 5)}`],
  ['of question marks', `https://hooks.example/${'?'.repeat(LONG)}`],
  ['of both', `https://hooks.example/${'?key'.repeat(LONG / 4)}`],
  ['of a scheme', 'a'.repeat(LONG)],
])('a URL of 1 MiB %s is shown in no time to speak of', (_, url) => {
  const before = process.threadCpuUsage();
  expect(shownUrl(url, (text) => text)).toBe(url.slice(0, 500));
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(200);
});

test('of a URL that is cut no part of a secret is shown', () => {
  const shown = (url: string) => shownUrl(url, (text) => text.replaceAll('top-secret', '***'));
  const start = `https://hooks.example/${'a'.repeat(460)}`;
  expect(shown(`${start}?token=${'z'.repeat(100)}`)).toBe(`${start}?token=***`);
  expect(shown(`${start}/aaaaaaaaaatop-secret`)).toBe(`${start}/aaaaaaaaaa***`);
  expect(shown(`https://bob:${'z'.repeat(600)}@hooks.example/`)).toBe('https://hooks.example/');
});
