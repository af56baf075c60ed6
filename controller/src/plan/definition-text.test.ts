import { resolveSet } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { definitionOf } from './definition-text.ts';

test.each([
  ['empty maps', () => ({})],
  ['lists in lists', () => [[[[[[1], 1], 1], 1], 1], 1]],
])('an object of 200 KB and more with thousands of %s is refused without formatting its text', (_, make) => {
  const definition = definitionOf('Pipeline', { name: 'p', steps: Array.from({ length: 70_000 }, make) });
  const source = { file: 'Pipeline a/p', ...definition, text: definition.text };
  const before = process.threadCpuUsage();
  expect(definition.text.startsWith('{"name"')).toBe(true);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(500);
  expect(resolveSet({ pipelines: [source], steps: [] }).problems).toMatchObject([{ severity: 'error' }]);
});

test('one with as many values as a definition may have is formatted', () => {
  const { text } = definitionOf('Pipeline', { name: 'p', tags: Array.from({ length: 9000 }, () => 1) });
  expect(text.startsWith('name: p\ntags:\n')).toBe(true);
});
