import { expect, test } from 'vitest';
import { paths, safeReturn } from './paths.ts';

test('names and filters are encoded, empty filters are left out', () => {
  expect(paths.run('a/b', { step: 'per-service/0', tab: null })).toBe('/ui/runs/a%2Fb?step=per-service%2F0');
  expect(paths.runs({ q: '"><script>', status: '', page: 2 })).toBe('/ui/runs?q=%22%3E%3Cscript%3E&page=2');
});

test.each(['/ui/runs?status=failed', '/ui/'])('%s is a place to return to', (path) => {
  expect(safeReturn(path)).toBe(path);
});

test.each([
  'https://evil.example',
  '//evil.example',
  '/ui//evil.example',
  '/ui/\\evil',
  '/uix',
  '/ui/a b',
  '/ui/€',
  '/ui/é',
  undefined,
  ['/ui/'],
])('a return to %s goes to the overview', (path) => {
  expect(safeReturn(path)).toBe('/ui/');
});
