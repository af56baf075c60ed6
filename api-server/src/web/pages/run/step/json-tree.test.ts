import { expect, test } from 'vitest';
import { type JsonNode, jsonTree } from './json-tree.ts';

const size = (node: JsonNode): number => 1 + node.children.reduce((sum, child) => sum + size(child), 0);
const depth = (node: JsonNode): number => 1 + Math.max(0, ...node.children.map(depth));

test('keys, kinds and sizes are kept', () => {
  const tree = jsonTree({ action: 'restart', hosts: ['a', 'b'], ticket: null });
  expect(tree).toMatchObject({ kind: 'object', text: '3 keys', open: true });
  expect(tree.children.map(({ key, kind, text }) => [key, kind, text])).toEqual([
    ['action', 'string', 'restart'],
    ['hosts', 'array', '2 items'],
    ['ticket', 'word', 'null'],
  ]);
});

test('a huge, deep or long answer stays bounded and says what is missing', () => {
  expect(size(jsonTree(Array.from({ length: 10_000 }, (_, i) => i)))).toBeLessThan(1600);
  expect(jsonTree(Array.from({ length: 10_000 }, (_, i) => i)).more).toContain('more not shown');
  let deep: unknown = 1;
  for (let i = 0; i < 500; i++) deep = [deep];
  expect(depth(jsonTree(deep))).toBeLessThan(20);
  expect(jsonTree('x'.repeat(30_000))).toMatchObject({ more: '10000 characters more' });
});
