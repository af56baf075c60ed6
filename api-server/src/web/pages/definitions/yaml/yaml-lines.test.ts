import fc from 'fast-check';
import { expect, test } from 'vitest';
import { yamlLines } from './yaml-lines.ts';

const coloured = (source: string) =>
  yamlLines(source).map(({ pieces }) =>
    pieces.filter(({ kind }) => kind !== '').map(({ kind, text }) => `${kind}:${text}`),
  );

test.each([
  ['name: host-load', ['key:name']],
  ['  - name: "a # b" # why', ['key:name', 'string:"a # b"', 'comment: # why']],
  ['# all', ['comment:# all']],
  ['confidence_threshold: 0.75', ['key:confidence_threshold', 'number:0.75']],
  ['suspend: true', ['key:suspend', 'number:true']],
  ['version: v1.2.3', ['key:version']],
  ["prompt: 'Look at {{summary}}'", ['key:prompt', "string:'Look at {{summary}}'"]],
  ['url: http://127.0.0.1:9/x', ['key:url']],
  ['match: { alertname: High, severity: { in: [a, 2] } }', ['key:match', 'number:2']],
])('%s', (line, expected) => {
  expect(coloured(line)).toEqual([expected]);
});

test('the lines of a block of text are no YAML, the one after it is', () => {
  const source = 'prompt_template: |\n  key: {{summary}} # kept\n\n  5\nnext: 5\n';
  expect(coloured(source)).toEqual([
    ['key:prompt_template'],
    ['template:{{summary}}'],
    [],
    [],
    ['key:next', 'number:5'],
  ]);
});

test('no character is lost', () => {
  fc.assert(
    fc.property(fc.string(), (source) => {
      const text = yamlLines(source)
        .map(({ pieces }) => pieces.map((piece) => piece.text).join(''))
        .join('\n');
      expect(text).toBe(source.replace(/\n$/, ''));
    }),
  );
});
