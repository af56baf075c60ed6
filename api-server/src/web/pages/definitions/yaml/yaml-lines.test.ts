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
  ['  "steps": ["look", { "after": "a: b" }]', ['key:"steps"', 'string:"look"', 'key:"after"', 'string:"a: b"']],
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

test.each([
  ['strings that are open', `x: ${'"a\\'.repeat(65_000)}y`],
  ['templates that are open', `x: |\n  ${'{{ "'.repeat(60_000)}`],
  ['indicators', `${' '.repeat(120_000)}${'- '.repeat(60_000)}`],
])('a line of %s as long as a definition may be is shown at once, without colours', (_, source) => {
  const before = process.threadCpuUsage();
  const lines = yamlLines(source);
  expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);
  expect(lines.at(-1)?.pieces).toEqual([{ kind: '', text: source.split('\n').at(-1) }]);
});

test.each([
  ['nothing but lines', '#\n'.repeat(130_000)],
  ['many pieces', '1 2 3 4 5 6 7 8\n'.repeat(16_000)],
])('a definition of %s makes no large page, and the page says how many lines are left out', (_, source) => {
  const lines = yamlLines(source);
  const shown = lines.length - 1;
  expect(lines.flatMap(({ pieces }) => pieces).length + 2 * shown).toBeLessThan(6_000);
  expect(lines.at(-1)?.mark).toBe('cut');
  expect(lines.at(-1)?.pieces[0]?.text).toBe(
    `… (${source.split('\n').length - 1 - shown} lines more; the API has them all)`,
  );
});
