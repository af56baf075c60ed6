import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { resolveSet } from './resolve-set.ts';
import { isSure } from './sure-value.ts';
import { parseYaml } from './yaml.ts';

type Body = Record<string, unknown>;
const written = (value: Body) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
const named = (rest: Body): Body => ({ name: 'a', ...rest });
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
const listed = (depth: number): unknown => (depth === 0 ? 1 : [listed(depth - 1)]);

const LIMITS: [string, (size: number) => Body, number[]][] = [
  ['numbers in a list', (size) => named({ list: Array.from({ length: size }, () => 1) }), [4000, 4990, 5001, 10_001]],
  ['empty lists', (size) => named({ list: Array.from({ length: size }, () => []) }), [4000, 4990, 5001]],
  ['keys', (size) => named(Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, {}]))), [3000, 5001]],
  ['levels', (size) => named({ deep: nested(size) }), [30, 62, 63, 64, 65]],
  ['lists in lists', (size) => named({ deep: listed(size) }), [30, 62, 63, 64, 65]],
  ['text', (size) => named({ text: 'x'.repeat(size) }), [200_000, 262_000, 263_000]],
  ['lines', (size) => named({ a: { b: { text: 'x\n'.repeat(size) } } }), [10_000, 30_000, 80_000]],
  ['marks that need an escape', (size) => named({ text: '\u0007'.repeat(size) }), [40_000, 60_000, 70_000]],
  ['a long key', (size) => named({ ['k'.repeat(size)]: [1] }), [100, 1100]],
];
const cases = LIMITS.flatMap(([what, make, sizes]) => sizes.map((size) => [size, what, make] as const));

test.each(cases)('%i %s are sure only where their text reads the same', (size, _, make) => {
  const value = make(size);
  expect(isSure(make(2))).toBe(true);
  if (isSure(value)) expect(parseYaml(written(value))).toMatchObject({ ok: true, value });
});

test.each([
  ['a key that no definition may have', JSON.parse('{"name": "a", "__proto__": {}}') as Body],
  ['a number that JSON cannot hold', named({ number: Infinity })],
])('%s is not sure', (_, value) => {
  expect(isSure(value)).toBe(false);
});

const TEXTS = ['null', '~', '0x1f', '1e3', '-0', '- a', '? a', 'a: b', ' a', 'a ', '\ta', '\na', 'a\n\n\nb', 'a\r\nb'];
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...TEXTS, '\u2028', '\ufeffa', '\ud800', '---\n'));

test('what is sure reads the same from its text', () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true }), (body) => {
      const read = JSON.parse(JSON.stringify(named(body))) as Body;
      if (isSure(read)) expect(parseYaml(written(read))).toMatchObject({ ok: true, value: read });
    }),
    { numRuns: 200 },
  );
});

const STEP = { name: 's', executor: 'gateway', agent: 'b', prompt_template: 'Look at {{sumary}}' };
test.each<[string, Body]>([
  ['a sound pipeline', named({ steps: [STEP] })],
  ['a wrong key', named({ steps: [{ ...STEP, promt: 1 }] })],
  ['a step that is not there', named({ steps: [{ name: 's', use: 'none' }] })],
  ['a name that is none', { name: 'no name', steps: [STEP] }],
  ['too many values', named({ steps: [STEP], tags: Array.from({ length: 6000 }, () => 'a') })],
  ['too much text', named({ steps: [{ ...STEP, prompt_template: 'x'.repeat(300_000) }] })],
])('%s is judged alike from a value and from its text', (_, value) => {
  const judged = (source: object) => {
    const { pipelines, problems } = resolveSet({
      pipelines: [{ file: 'f', text: written(value), ...source }],
      steps: [],
    });
    const seen = problems.map(({ line: _line, col: _col, ...problem }) => problem);
    return [pipelines.map(({ name, hash, body }) => ({ name, hash, body })), seen];
  };
  expect(judged({ value })).toEqual(judged({}));
});
