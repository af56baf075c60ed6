import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { compileJsonSchema } from './json-schema.ts';
import { measureSchema } from './json-schema-size.ts';

type Schema = Record<string, unknown>;
const ref = (name: string | number): Schema => ({ $ref: `#/$defs/${name}` });

/** `n0` to `n39`, each made of two of the next. */
const chain = (pair: (next: Schema) => Schema, last: Schema = { type: 'string' }): Schema => ({
  $ref: '#/$defs/n0',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`n${index}`, index === 39 ? last : pair(ref(`n${index + 1}`))]),
  ),
});
const twice = (next: Schema): Schema => ({ anyOf: [next, next] });
const recursive = (schema: Schema): Schema => ({ ...ref('T'), $defs: { T: schema } });
const T = ref('T');
const keyed = (count: number, entry: (at: number) => [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => entry(at)));

/** Of about 300 instructions, in a cycle with the root. */
const PATTERN = { properties: { root: { $ref: '#' }, a: { pattern: '[a-z]{300}' } } };
/** A reference to each of the levels around a schema. */
const levels = (depth: number, last: Schema): Schema => ({
  properties: keyed(depth, (at) => [`p${at}`, ref(`T${'/items'.repeat(at)}`)]),
  $defs: { T: Array.from({ length: 50 }).reduce<Schema>((items) => ({ items }), last) },
});
const named = (count: number, T: Schema): Schema => ({
  properties: keyed(count, (at) => [`p${at}`, ref(`n${at}`)]),
  $defs: { T, ...keyed(count, (at) => [`n${at}`, ref('T')]) },
});

test.each<[string, Schema, RegExp]>([
  ['alternatives of alternatives', chain(twice), /multiply/],
  ['all of all', chain((next) => ({ allOf: [next, next] })), /multiply/],
  ['a condition and its branch', chain((next) => ({ if: next, then: next })), /multiply/],
  ['a reference beside a negation', chain((next) => ({ ...next, not: next })), /multiply/],
  ['what depends on a key', chain((next) => ({ dependentSchemas: { a: next, b: next } })), /multiply/],
  ['two patterns of one key', chain((next) => ({ patternProperties: { a: next, 'a|b': next } })), /multiply/],
  ['items twice', chain((next) => ({ items: next, contains: next })), /multiply/],
  ['a chain that ends in a cycle', chain(twice, { items: ref('n0') }), /more than one way/],
  [
    'references in references',
    {
      anyOf: Array.from({ length: 190 }, () => ref('big')),
      $defs: { big: { enum: Array.from({ length: 600 }, (_, i) => i) } },
    },
    /multiply/,
  ],
  ['itself', { $ref: '#' }, /without reading/],
  ['itself in an alternative', recursive({ anyOf: [{ type: 'null' }, T] }), /without reading/],
  ['each other', { ...ref('a'), $defs: { a: ref('b'), b: { not: ref('a') } } }, /without reading/],
  [
    'a key that is read twice',
    recursive({ anyOf: [{ properties: { a: T } }, { properties: { a: T } }] }),
    /more than one way/,
  ],
  ['a key and a pattern', recursive({ properties: { a: T }, patternProperties: { '^a': T } }), /more than one way/],
  ['alternatives below a key', recursive({ properties: { a: { oneOf: [T, T] } } }), /more than one way/],
  [
    'a cycle in a cycle',
    { ...T, $defs: { T: { items: { allOf: [T, ref('U')] } }, U: { items: ref('U') } } },
    /more than one way/,
  ],
  ['a reference elsewhere', { $ref: 'http://example.com/x.json' }, /only references/],
  ['a name', { $anchor: 'a', $ref: '#a' }, /only references/],
  ['a name below the root', { $defs: { a: { $anchor: 'a' } } }, /at its root only/],
  ['an escaped reference', { $ref: '#/%24defs/a', $defs: { a: {} } }, /only references/],
  ...['a#', 'a\u2028', 'a\u2029b'].map((name): [string, Schema, RegExp] => [
    `what ends otherwise: ${JSON.stringify(name)}`,
    { ...ref(name), $defs: { [name]: { type: 'array' }, a: { allOf: [T, T] }, T: { items: ref('a') } } },
    /only references/,
  ]),
  ['an end without a name', { ...ref('a/#'), $defs: { a: { '#': {} } } }, /only references/],
  ['nothing', ref('none'), /can't resolve/],
  ['a reference that is no JSON pointer', { ...ref('a~'), $defs: { 'a~': {} } }, /only references/],
  [
    'what is read at each of its levels',
    levels(50, { enum: Array.from({ length: 70 }, (_, at) => at) }),
    /name more than 4000 values/,
  ],
  ['a pattern at each of its levels', levels(20, PATTERN), /name patterns of more than 5000/],
  ['a pattern under many names', named(20, PATTERN), /name patterns of more than 5000/],
  ['another base', { ...ref('a'), $defs: { a: { $id: 'urn:a', $ref: '#/$defs/b' } } }, /\$id/],
  [
    'a circle of bases under keys that are no keywords',
    {
      $id: 'http://x/',
      properties: { r: ref('a') },
      $defs: { a: {} },
      'w/q': { $id: 'http://x/#/$defs/a' },
      w: { q: { $id: 'http://x/#/y' } },
      y: { $id: 'http://x/#/w/q' },
    },
    /at its root only/,
  ],
  ['anchors in anchors', anchored(14), /at its root only/],
  ['a part of another base', { ...ref('a/not'), $defs: { a: { $id: 'urn:a', not: { $ref: '#' } } } }, /\$id/],
  ['a dynamic reference', { $dynamicRef: '#a' }, /not available/],
  ['many values', { enum: Array.from({ length: 2001 }, (_, index) => index) }, /2000 values/],
  ['many references', { allOf: Array.from({ length: 201 }, () => ref('a')), $defs: { a: true } }, /200 references/],
  ['long text', { description: 'x'.repeat(65 * 1024) }, /64 KiB/],
  ['a pattern of megabytes', { pattern: '(a'.repeat(4 * 1024 * 1024) }, /64 KiB/],
  ['depth', nested(70), /64 levels/],
  ['many patterns of keys', { patternProperties: keyed(160, (at) => [`^${at}`, true]) }, /multiply/],
  ['long patterns', { properties: keyed(20, (at) => [`${at}`, { pattern: '[a-z]{1,300}$' }]) }, /5000 instructions/],
  [
    'classes of Unicode',
    { patternProperties: keyed(15, (at) => [`${at}${'\\p{L}'.repeat(20)}`, true]) },
    /5000 instructions/,
  ],
])('%s is refused before it is compiled', (_, schema, reason) => {
  let compiled: unknown;
  const spent = cpuTimeOf(() => (compiled = compileJsonSchema(schema)));
  expect(compiled).toMatchObject({ ok: false, msg: expect.stringMatching(reason) as string });
  expect(spent).toBeLessThan(1000);
});

test.each<[string, Schema]>([
  ['patterns of keys', { patternProperties: keyed(150, (at) => [`^${at}`, true]) }],
  ['patterns', { properties: keyed(145, (at) => [`k${at}`, { pattern: `^${at}[a-z]{1,25}$` }]) }],
  ['classes of Unicode', { patternProperties: keyed(60, (at) => [`${at}\\p{L}{1,55}`, true]) }],
  ['folded classes', { properties: keyed(24, (at) => [`k${at}`, { pattern: `(?i)${at}[b-\u3000]` }]) }],
  ['values', { allOf: Array.from({ length: 950 }, () => ({ not: {} })) }],
  ['keys', { properties: keyed(990, (at) => [`k${at}`, { type: 'string' }]) }],
  ['recursive anchors', { $ref: '#/w', w: recursiveAnchored(50) }],
  [
    'definitions',
    { properties: keyed(190, (at) => [`k${at}`, ref(at)]), $defs: keyed(190, (at) => [`${at}`, { maximum: at }]) },
  ],
  ['values under names', named(90, { enum: Array.from({ length: 36 }, (_, at) => at), items: { $ref: '#' } })],
  ['lists', { allOf: Array.from({ length: 600 }, (_, at) => ({ contains: { const: at } })) }],
])('as many %s as a schema may have compile in a tenth of a second', (_, schema) => {
  compileJsonSchema(schema);
  let compiled: unknown;
  expect(cpuTimeOf(() => (compiled = compileJsonSchema(schema)))).toBeLessThan(250);
  expect(compiled).toMatchObject({ ok: true });
});

function anchored(depth: number): Schema {
  return depth === 0 ? {} : { $dynamicAnchor: `a${depth}`, not: anchored(depth - 1) };
}

function recursiveAnchored(depth: number): Schema {
  return depth === 0 ? {} : { $recursiveAnchor: true, not: recursiveAnchored(depth - 1) };
}

function nested(depth: number): Schema {
  return depth === 0 ? {} : { not: nested(depth - 1) };
}

test.each<[string, Schema, unknown, unknown]>([
  [
    'a tree',
    recursive({ properties: { left: T, right: T }, required: ['v'] }),
    { v: 1, left: { v: 2 } },
    { v: 1, left: {} },
  ],
  [
    'any JSON of texts',
    recursive({
      anyOf: [{ type: 'string' }, { type: 'array', items: T }, { type: 'object', additionalProperties: T }],
    }),
    { a: ['b'] },
    { a: [1] },
  ],
  [
    'a shared definition',
    { properties: { a: ref('n'), b: ref('n') }, $defs: { n: { type: 'number' } } },
    { a: 1 },
    { b: '' },
  ],
  ['a list in a list', recursive({ type: 'array', items: T }), [[], [[]]], [1]],
])('%s is accepted and checks values', (_, schema, good, bad) => {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error(compiled.msg);
  expect([compiled.validate(good).ok, compiled.validate(bad).ok]).toEqual([true, false]);
});

test('the root may have names of its own, which nothing refers to', () => {
  const names = { $id: 'http://x/', $anchor: 'a', $dynamicAnchor: 'b' };
  const compiled = compileJsonSchema({
    ...names,
    properties: { $id: T, t: { $ref: '#' } },
    $defs: { T: { type: 'string' } },
  });
  expect(compiled.ok && compiled.validate({ t: { $id: 'x' } })).toEqual({ ok: true });
  expect(compiled.ok && compiled.validate({ t: { $id: 1 } })).toMatchObject({ ok: false });
});

test('a reference means the same to what measures it and to what evaluates it', () => {
  const key = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.string({ unit: fc.constantFrom(...'a#%/~01 \u2028\n') }),
  );
  fc.assert(
    fc.property(key, (name) => {
      const path = name.replaceAll('~', '~0').replaceAll('/', '~1');
      const decoys = { a: { const: 'decoy' }, [name.slice(0, -1)]: { const: 'decoy' } };
      const compiled = compileJsonSchema({ ...ref(path), $defs: { ...decoys, [name]: { const: 'meant' } } });
      if (compiled.ok) expect(compiled.validate('meant')).toEqual({ ok: true });
    }),
    { numRuns: 300 },
  );
});

test('the size counts every reference with what it names', () => {
  const one = measureSchema({ properties: { a: ref('n') }, $defs: { n: { enum: [1, 2, 3] } } });
  const two = measureSchema({ properties: { a: ref('n'), b: ref('n') }, $defs: { n: { enum: [1, 2, 3] } } });
  expect(one.ok && two.ok && two.expanded - one.expanded).toBeGreaterThan(4);
});

test('the size counts schemas that are true or false, and names in old dependencies', () => {
  expect(measureSchema({ anyOf: [false, false, {}] })).toEqual({ ok: true, expanded: 4 });
  expect(measureSchema({ properties: { a: true }, items: false })).toEqual({ ok: true, expanded: 3 });
  expect(measureSchema({ dependencies: { a: ['b', 'c'] } })).toEqual({ ok: true, expanded: 4 });
});

test('patterns of one schema do not share a compiled pattern', () => {
  const compiled = compileJsonSchema({ properties: { a: { pattern: '^x' }, b: { pattern: '^y' } } });
  expect(compiled.ok && compiled.validate({ a: 'x', b: 'y' })).toEqual({ ok: true });
});

test.each<[string, Schema, unknown, RegExp]>([
  ['a value over 1 MiB', {}, 'x'.repeat(1024 * 1024), /1 MiB/],
  ['a long text with a pattern', { pattern: 'a' }, 'x'.repeat(17_000), /longer than 16384/],
  [
    'many texts with a pattern',
    { items: { pattern: 'a$' } },
    Array.from({ length: 40 }, () => `${'x'.repeat(15_999)}a`),
    /524288/,
  ],
  [
    'many values for many alternatives',
    { items: { anyOf: Array.from({ length: 400 }, (_, i) => ({ const: i })) } },
    Array.from({ length: 20_000 }, () => -1),
    /too large/,
  ],
])('%s is not checked', (_, schema, value, reason) => {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error(compiled.msg);
  let result: unknown;
  const spent = cpuTimeOf(() => (result = compiled.validate(value)));
  expect(result).toMatchObject({ ok: false, errors: [{ msg: expect.stringMatching(reason) as string }] });
  expect(spent).toBeLessThan(3000);
});

test('unique items of a long list are found in linear time, whatever the order of their keys', () => {
  const compiled = compileJsonSchema({ uniqueItems: true });
  if (!compiled.ok) throw new Error(compiled.msg);
  const items = Array.from({ length: 15_000 }, (_, index) => ({ a: index, b: 1 }));
  const spent = cpuTimeOf(() => expect(compiled.validate(items)).toEqual({ ok: true }));
  expect(spent).toBeLessThan(3000);
  const doubled = compiled.validate([
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ]);
  expect(doubled).toMatchObject({ ok: false, errors: [{ msg: 'must NOT have duplicate items' }] });
});
