import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { answerSchema, extractJson, parseAnswer as parse, type Validate } from './answer.ts';
import { compileJsonSchema } from './json-schema.ts';

const validate: Validate = (given, value) => {
  const compiled = compileJsonSchema(given);
  return Promise.resolve(
    compiled.ok ? compiled.validate(value) : { ok: false, errors: [{ loc: [], msg: compiled.msg }] },
  );
};
const parseAnswer = (value: unknown, outputSchema?: unknown) => parse(value, outputSchema, validate);

test('named keys are the answer, every other key is output', async () => {
  expect(await parseAnswer({ confidence: 0.9, summary: 'ok', action: 'restart', artifacts: { log: 'x' } })).toEqual({
    ok: true,
    answer: { confidence: 0.9, summary: 'ok', proceed: true, artifacts: { log: 'x' }, output: { action: 'restart' } },
  });
});

test.each<[unknown, RegExp]>([
  [null, /object/],
  [[], /object/],
  ['text', /object/],
  [{ summary: 'x' }, /confidence/],
  [{ confidence: 1.2, summary: 'x' }, /<= 1/],
  [{ confidence: '0.5', summary: 'x' }, /number/],
  [{ confidence: 0.5 }, /summary/],
  [{ confidence: 0.5, summary: 'x', proceed: 'no' }, /boolean/],
  [{ confidence: 0.5, summary: 'x', artifacts: { a: 1 } }, /string/],
])('%j is refused', async (value, msg) => {
  const parsed = await parseAnswer(value);
  if (parsed.ok || 'reason' in parsed) throw new Error('should be refused');
  expect(parsed.errors.map((error) => error.msg).join()).toMatch(msg);
});

const schema = {
  type: 'object',
  properties: { action: { enum: ['restart', 'wait'] } },
  required: ['action'],
  additionalProperties: false,
};

test("the step's schema is checked beside the contract, which it cannot loosen", async () => {
  expect(await parseAnswer({ confidence: 1, summary: 'x', action: 'wait' }, schema)).toMatchObject({
    ok: true,
    answer: { output: { action: 'wait' } },
  });
  expect(await parseAnswer({ confidence: 1, summary: 'x', action: 'dance' }, schema)).toMatchObject({
    ok: false,
    errors: [{ loc: ['action'] }],
  });
  expect((await parseAnswer({ confidence: 1, summary: 'x' }, schema)).ok).toBe(false);
  expect((await parseAnswer({ confidence: 1, summary: 'x', action: 'wait', other: 1 }, schema)).ok).toBe(false);
  expect(answerSchema({ properties: { confidence: { type: 'string' } } })).toMatchObject({
    properties: { confidence: { type: 'number' } },
    required: ['confidence', 'summary'],
  });
});

test.each<[string, unknown]>([
  ['{"a":1}', { a: 1 }],
  ['  {"a":1}\n', { a: 1 }],
  ['Here it is:\n```json\n{"a":1}\n```\nDone.', { a: 1 }],
  ['```\nnot json\n```\n```json\n{"a":2}\n```', { a: 2 }],
  ['I think {this} is it: {"a":{"b":"}"}} and more }', { a: { b: '}' } }],
  ['{"a": "\\"{"} trailing', { a: '"{' }],
  ['[1,2]', undefined],
  ['nothing', undefined],
  ['{"a":', undefined],
])('the object in %j is found', (text, value) => {
  expect(extractJson(text)).toEqual(value);
});

test('an object is found in whatever stands around it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (value, around) => {
      const prose = around.replaceAll(/[{"`]/g, '');
      const json = JSON.stringify(value);
      expect(extractJson(`${prose}${json}${prose}`)).toEqual(JSON.parse(json));
    }),
  );
});

test.each([
  '{'.repeat(200_000),
  '```\n'.repeat(100_000),
  '"{'.repeat(100_000),
  '\n'.repeat(500_000),
  '{"a":'.repeat(50_000),
])('hostile text %#  is answered quickly', (text) => {
  expect(cpuTimeOf(() => expect(extractJson(text)).toBeUndefined())).toBeLessThan(2000);
});

test('an answer that begins many long objects is not read again for each of them', () => {
  const within = (levels: number, inner: string) => `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`;
  const long = within(60, `[${'"x",'.repeat(250_000)}]x`);
  const quick = cpuTimeOf(() => expect(extractJson(within(1, `[${'"x",'.repeat(250_000)}]x`))).toBeUndefined());
  expect(cpuTimeOf(() => expect(extractJson(long)).toBeUndefined())).toBeLessThan(12 * quick);
  expect(extractJson(`${'{x'.repeat(40)}{"a":1}`)).toEqual({ a: 1 });
  expect(extractJson(`{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`)).toBeUndefined();
});

test.each<[unknown]>([
  [1],
  ['x'],
  [null],
  [[]],
  [{ type: 'nonsense' }],
  [{ $ref: 'http://example.com/x.json' }],
  [{ pattern: '(' }],
  [{ $async: true, type: 'object' }],
  [{ required: 'a' }],
])('%j is no usable JSON Schema', (value) => {
  expect(compileJsonSchema(value)).toMatchObject({ ok: false, msg: expect.any(String) as string });
});

test('an answer of many fences, none of which holds an object, is not parsed for each of them', () => {
  const spoilt = '```\n{```';
  expect(cpuTimeOf(() => expect(extractJson(spoilt.repeat(200_000))).toBeUndefined())).toBeLessThan(500);
  const code = '```\nlist\n```\n'.repeat(200);
  expect(extractJson(`${code}\`\`\`json\n{"a": 1}\n\`\`\`\n{`)).toEqual({ a: 1 });
});

test('patterns of a schema are linear', () => {
  const compiled = compileJsonSchema({ type: 'string', pattern: '^(a+)+$' });
  const validate = () =>
    expect(compiled.ok && compiled.validate(`${'a'.repeat(16_000)}!`)).toMatchObject({ ok: false });
  expect(cpuTimeOf(validate)).toBeLessThan(2000);
});

test('an answer that nests without end is none, so that nothing recurses into it', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  expect(extractJson(nested(90))).toBeTypeOf('object');
  expect(extractJson(nested(100_000))).toBeUndefined();
});
