import { expect, test } from 'vitest';
import { shownUrl } from './step-parts.ts';

test.each([
  ['https://hooks.example/a?api_key=abc&x=1', 'https://hooks.example/a?api_key=***&x=1'],
  ['https://bob:hunter2@hooks.example/', 'https://hooks.example/'],
  ['https://hooks.example/top-secret', 'https://hooks.example/***'],
  ['not a url', 'not a url'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url, (text) => text.replaceAll('top-secret', '***'))).toBe(shown);
});
