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
