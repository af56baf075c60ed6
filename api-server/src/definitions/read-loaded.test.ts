import { expect, test } from 'vitest';
import { withSuspend } from './edit-suspend.ts';

test('keys of a definition that is loaded are not compared with each other', () => {
  const text = 'name: p\nvars: {a: 1,   a: 2}\n';
  expect(withSuspend(text, true)).toBe('name: p\nsuspend: true\nvars: {a: 1,   a: 2}\n');
});
