import { expect, test } from 'vitest';
import { isKept } from './own-environment.ts';

test.each([
  ['PATH', true],
  ['HOME', false],
  ['NODE_EXTRA_CA_CERTS', true],
  ['LD_LIBRARY_PATH', true],
  ['ANTHROPIC_API_KEY', false],
  ['NODE_AUTH_TOKEN', false],
  ['LD_SDK_KEY', false],
  ['UV_INDEX_OURS_PASSWORD', false],
])('%s stays in the sight of other processes: %s', (name, kept) => {
  expect(isKept(name)).toBe(kept);
});
