import { expect, test } from 'vitest';
import { withoutLargeParts } from './large-parts.ts';

const many = Array.from({ length: 200_000 }, () => []);
const metadata = { name: 'a "spec":{ \\', annotations: { note: '\\"status":[' } };

test.each([
  ['a spec', { spec: { tags: many } }, { spec: null }],
  ['a status', { spec: { name: 'a' }, status: { 'brackets "]}': many } }, { spec: { name: 'a' }, status: null }],
  ['a spec in a spec', { spec: { spec: { spec: many } } }, { spec: null }],
])('%s with very many values becomes null, and all else stays', (_, large, left) => {
  const page = (object: object) => ({
    items: [
      { metadata, ...object },
      { metadata, spec: { steps: [{}] } },
    ],
  });
  expect(JSON.parse(withoutLargeParts(JSON.stringify(page(large))))).toEqual(page(left));
});

test('a long text without many values stays as it is', () => {
  const json = JSON.stringify({ metadata, spec: { soul: '[,{'.repeat(200_000) } });
  expect(withoutLargeParts(json)).toBe(json);
});

test('so do finalizers and labels, of which there may be any number', () => {
  const finalizers = Array.from({ length: 220_000 }, () => 'a');
  const json = JSON.stringify({ items: [{ metadata: { name: 'a', finalizers, labels: { ...finalizers } } }] });
  expect(JSON.parse(withoutLargeParts(json))).toEqual({
    items: [{ metadata: { name: 'a', finalizers: null, labels: null } }],
  });
});
