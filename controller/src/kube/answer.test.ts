import { expect, test } from 'vitest';
import { isUnavailable } from './answer.ts';

test.each([0, 401, 429, 502, 503, 504])('%i may be about the API server', (status) => {
  expect(isUnavailable({ ok: false, status, message: '' })).toBe(true);
});

test.each([400, 403, 404, 409, 413, 422, 500])('%i is about one request', (status) => {
  expect(isUnavailable({ ok: false, status, message: '' })).toBe(false);
});
