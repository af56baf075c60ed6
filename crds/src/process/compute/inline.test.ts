import { expect, test } from 'vitest';
import { answerSchema } from '../../language/answer.ts';
import { inlineSchema, isInlineAnswer, sizeOfValues } from './inline.ts';

test('the steps of a run that goes on are looked through again in each text', () => {
  const output = { list: Array.from({ length: 150_000 }, () => 0) };
  const steps: Record<string, object> = { first: { output } };
  const values = { steps, metadata: {} };
  expect(sizeOfValues(values)).toBe('large');
  steps['second'] = { output };
  expect(sizeOfValues(values)).toBe('huge');
  expect(sizeOfValues({ steps: { second: { output } } })).toBe('large');
});

test('names count as texts do', () => {
  const named = (name: string) => ({ metadata: { data: { [name]: 1 } } });
  expect(sizeOfValues(named('k'.repeat(16 * 1024)))).toBe('small');
  expect(sizeOfValues(named('k'.repeat(16 * 1024 + 1)))).toBe('large');
  expect(sizeOfValues({ ['k'.repeat(16 * 1024 + 1)]: 1 })).toBe('large');
  expect(sizeOfValues(named('k'.repeat(16 * 1024 * 1024 + 1)))).toBe('huge');
});

/** Null where the schema is not compiled inline. */
function isInline(schema: object, answer: unknown): boolean | null {
  const inline = inlineSchema(schema, JSON.stringify(schema));
  return inline && isInlineAnswer(inline, answer);
}
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const map = (count: number, value: unknown = 0) =>
  Object.fromEntries(numbers(count).map((index) => [`k${index}`, value]));
/** ajv makes an error for each alternative that does not hold, and forgets them where the last does. */
const oneOfMany = (count: number, other: unknown) => ({ anyOf: [...numbers(count).map(() => other), {}] });

test.each<[string, object, unknown, unknown]>([
  ['a long text with a pattern', { items: { pattern: '.{195}$' } }, ['x'.repeat(5000)], ['x'.repeat(9000)]],
  ['a long key', { additionalProperties: oneOfMany(460, false) }, { a: 1 }, { ['~/'.repeat(200)]: 1 }],
  [
    'a long key above many items',
    { additionalProperties: { items: oneOfMany(60, false) } },
    { ['k'.repeat(100)]: numbers(100) },
    { ['k'.repeat(400)]: numbers(100) },
  ],
  ['many items', { items: oneOfMany(460, false) }, numbers(100), numbers(200)],
  ['many items without one that is sought', { contains: oneOfMany(460, false) }, numbers(100), numbers(200)],
  ['many items of few types', { items: oneOfMany(120, { type: 'string' }) }, numbers(200), numbers(400)],
  ['many keys', { additionalProperties: oneOfMany(460, false) }, map(100), map(200)],
  ['names of keys', { propertyNames: oneOfMany(460, false) }, map(100), map(200)],
  ['keys with patterns', { patternProperties: { k: oneOfMany(460, false) } }, map(50), map(200)],
  ['a map that is none of many', { enum: numbers(1200).map(() => ({})) }, map(20), map(100)],
  ['what is needed beside a key', { items: { dependentRequired: map(250, []) } }, numbers(50), numbers(400)],
  [
    'names in old dependencies',
    { items: { dependencies: { a: numbers(400).map(String) } } },
    numbers(100),
    numbers(400),
  ],
  ['lists without doubles', { allOf: numbers(100).map(() => ({ uniqueItems: true })) }, numbers(5), numbers(50)],
])('%s is checked inline where there is little of it', (_, schema, small, large) => {
  expect([isInline(schema, small), isInline(schema, large)]).toEqual([true, false]);
});

test.each([
  { $ref: '#/$defs/a', $defs: { a: {} } },
  { anyOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
  { prefixItems: [{}], unevaluatedItems: false },
  { allOf: numbers(12).map((index) => ({ pattern: `${index}a{90}` })) },
  { description: 'x'.repeat(5000) },
])('%j takes long to compile', (schema) => {
  expect(isInline(schema, {})).toBe(null);
});

test('an answer of 10 KB for a schema of 30 texts is checked inline', () => {
  const text = { type: 'string', description: 'What was found' };
  const schema = answerSchema({ properties: map(30, text), required: Object.keys(map(30)) });
  expect(isInline(schema, { confidence: 1, summary: 's', ...map(30, 'x'.repeat(330)) })).toBe(true);
});
