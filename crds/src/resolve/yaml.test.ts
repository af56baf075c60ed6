import fc from 'fast-check';
import { stringify } from 'yaml';
import { expect, test } from 'vitest';
import { cpuTimeOf } from '../language/cpu-time.fixture.ts';
import { parseYaml } from './yaml.ts';
import { MAX_YAML_BYTES } from './yaml-size.ts';

function firstProblem(text: string): { msg: string; reason: string; line: number; col: number } {
  const parsed = parseYaml(text);
  if (parsed.ok) throw new Error(`should be refused: ${JSON.stringify(parsed.value)}`);
  return parsed.problems[0]!;
}

test('a document becomes plain values, and every place can be found again', () => {
  const parsed = parseYaml('name: a\nsteps:\n  - name: x\n    when: "a > 1"\n  - {name: y}\n');
  if (!parsed.ok) throw new Error('should parse');
  expect(parsed.value).toEqual({ name: 'a', steps: [{ name: 'x', when: 'a > 1' }, { name: 'y' }] });
  expect(parsed.locate(['steps', 0, 'when'])).toEqual({ line: 4, col: 5 });
  expect(parsed.locate(['steps', 1, 'name'])).toEqual({ line: 5, col: 6 });
  expect(parsed.locate(['steps', 0, 'missing', 'deeper'])).toEqual({ line: 3, col: 5 });
  expect(parsed.locate([])).toEqual({ line: 1, col: 1 });
});

test.each<[string, string, RegExp]>([
  ['a duplicate key', 'a: 1\nb: 2\na: 3\n', /"a" is given twice/],
  ['a duplicate key inside', 'x:\n  - {a: 1, a: 2}\n', /twice/],
  ['the same key in other words', '1: a\n"1": b\n', /twice/],
  ['an unknown tag', 'a: !secret x\n', /tag/i],
  ['a tag of JavaScript', 'a: !!js/function "x"\n', /tag/i],
  ['binary', 'a: !!binary aGk=\n', /tag|supported/i],
  ['an endless number', 'a: .inf\n', /finite/],
  ['no number', 'a: .nan\n', /finite/],
  ['a key that is a map', '? {a: 1}\n: x\n', /key must be text/],
  ['the prototype as a key', '__proto__: {polluted: true}\n', /__proto__/],
  ['a second document', 'a: 1\n---\nb: 2\n', /^a second document begins here/],
  ['an open quote', 'a: "x\n', /quote/i],
  ['a tab as indentation', 'a:\n\tb: 1\n', /tab/i],
  ['an alias to nothing', 'a: *b\n', /alias/i],
])('%s is an error with a place', (_name, text, msg) => {
  const problem = firstProblem(text);
  expect(problem.msg).toMatch(msg);
  expect(problem.line).toBeGreaterThan(0);
  expect(problem.col).toBeGreaterThan(0);
});

test.each<[string, string]>([
  ['more than 256 KiB', `a: "${'x'.repeat(MAX_YAML_BYTES)}"`],
  [
    '30,000 keys',
    Array.from({ length: 30_000 }, (_, i) => `k${i}: 1`)
      .join('\n')
      .slice(0, MAX_YAML_BYTES),
  ],
  ['30,000 items', `a: [${'1,'.repeat(30_000)}1]`],
  ['30,000 quoted items', `a: [${'"",'.repeat(30_000)}1]`],
  ['100,000 colons', ':\n'.repeat(100_000)],
  ['blank lines', `a: 1\n${'\n'.repeat(255 * 1024)}`],
  ['lines of comments', `a:\n${'  #\n'.repeat(60_000)}  b: 1`],
  ['100,000 open brackets', '['.repeat(100_000)],
  ['nested flow maps', '{a: '.repeat(200) + '1' + '}'.repeat(200)],
  ['dashes on one line', `${'- '.repeat(2000)}x`],
  ['question marks on one line', `${'? '.repeat(2000)}x`],
  ['deep indentation', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  [
    'aliases that multiply',
    'a: &a [x,x,x,x,x,x,x,x,x,x]\n' +
      'bcdefghi'
        .split('')
        .map((k, i) => `${k}: &${k} [${`*${'abcdefghi'[i]!},`.repeat(10)}]`)
        .join('\n'),
  ],
  ['101 aliases', `a: &a 1\nb: [${'*a,'.repeat(101)}]`],
  ['a long text with many aliases', `a: &a ${'x'.repeat(200_000)}\nb: [${'*a,'.repeat(90)}]`],
  ['long keys with many aliases', `a: &a {${'k'.repeat(3000)}: 1}\nb: [${'*a,'.repeat(90)}]`],
])('%s is refused before it costs time', (_name, text) => {
  expect(cpuTimeOf(() => expect(firstProblem(text).reason).toBe('too_large'))).toBeLessThan(1500);
});

test.each([
  ']',
  '\t]',
  '}\n',
  '"\n: ',
  "\t'",
  '\t!x ',
  '{',
  '&a ',
  '!x ',
  '- |\n\n',
  '? ',
  ',',
  '%YAML 1.2\n',
  '"\\\n',
  '#c\n',
])('%j without end is answered in time', (piece) => {
  const text = `a: 1\n${piece.repeat(Math.floor(200_000 / piece.length))}`;
  expect(cpuTimeOf(() => parseYaml(text))).toBeLessThan(1500);
});

test.each(['\\q', '\\xzz', '\\u12', '\\U00110000', '\\\r'])(
  '%j thousands of times in double quotes is refused before each is an error',
  (piece) => {
    const problem = firstProblem(`a: 1\nb: "${piece.repeat(2000)}"`);
    expect(problem).toMatchObject({ line: 2, msg: expect.stringContaining('more than 1000 escapes') as string });
  },
);

test('escapes that YAML knows may be as many as a text has characters', () => {
  const escapes = String.raw`\0\a\b\e\f\n\r\t\v\N\_\L\P\ \"\/\\\x41\u0041\U0010ffff`;
  const parsed = parseYaml(`a: "${escapes.repeat(4000)}\\\n  \\\r\n  \\\t"\n`);
  expect(parsed.ok).toBe(true);
});

test.each(['|91', '>-12 # c', '|+1-9'])(
  'a text with the indentation %j is refused before each line is an error',
  (header) => {
    const problem = firstProblem(`a: 1\nb: ${header}\n${' x\n'.repeat(1000)}`);
    expect(problem).toMatchObject({ line: 2, msg: expect.stringContaining('more than one digit') as string });
    expect(parseYaml(`b: ${header[0]}2- # 12 lines\n  x\n`)).toMatchObject({ ok: true });
  },
);

test('an alias of itself is refused', () => {
  expect(parseYaml('a: &a [*a]\n').ok).toBe(false);
});

test('what fits is read quickly even at the limit', () => {
  const text = Array.from({ length: 4900 }, (_, i) => `# What it is\nk${i}: v\n`).join('\n');
  expect(cpuTimeOf(() => expect(parseYaml(text).ok).toBe(true))).toBeLessThan(1500);
});

test('whatever can be written as YAML is read back the same', () => {
  const key = fc.string().filter((name) => name !== '__proto__');
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(fc.dictionary(key, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }), (body) => {
      expect(parseYaml(stringify(body, { aliasDuplicateObjects: false }))).toMatchObject({ ok: true, value: body });
    }),
    { numRuns: 200 },
  );
});

test('any text is answered and never thrown at', () => {
  const piece = fc.constantFrom(
    'a: ',
    '- ',
    '? ',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '&a ',
    '*a',
    '!x ',
    '!!map ',
    '|\n',
    '>\n',
    '---\n',
    '...\n',
    '\t',
    '  ',
    '\n',
    ',',
    ':',
    '#',
    '%YAML 1.2\n',
    '<<: ',
    'x',
    '\ufeff',
    '\0',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('')),
      ),
      (text) => {
        const parsed = parseYaml(text);
        if (parsed.ok) parsed.locate(['a', 0, 'b']);
        else expect(parsed.problems.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 250 },
  );
});
