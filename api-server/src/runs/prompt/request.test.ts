import { expect, test } from 'vitest';
import { parseBody } from './request.ts';

test.each([
  ['{"status":"ok"}', { status: 'ok' }],
  ['not JSON', 'not JSON'],
  [`${'['.repeat(100)}${']'.repeat(100)}`, expect.any(Array)],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, expect.any(String)],
])('the body %.20s is seen as JSON where it is JSON that can be written again', (text, seen) => {
  expect(parseBody(text)).toEqual(seen);
});
