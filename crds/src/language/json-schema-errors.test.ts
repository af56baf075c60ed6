import { expect, test } from 'vitest';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { compileJsonSchema } from './json-schema.ts';

const KEY = 'k'.repeat(100_000);

function errorsOf(schema: object, value: unknown) {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error(compiled.msg);
  const result = compiled.validate(value);
  return result.ok ? [] : result.errors;
}

test('an error has the start of long keys', () => {
  const start = `${'k'.repeat(100)}…`;
  const schema = { additionalProperties: { additionalProperties: false } };
  expect(errorsOf(schema, { [KEY]: { [KEY]: 1 } })).toEqual([
    { loc: [start], msg: `must NOT have additional properties: ${start}` },
  ]);
});

test('an error has the first keys of a deep place, and numbers of items', () => {
  const schema = { $ref: '#/$defs/list', $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } } };
  const deep = (levels: number): unknown => (levels === 0 ? 'x' : [deep(levels - 1)]);
  expect(errorsOf(schema, deep(20))[0]?.loc).toEqual(Array(20).fill(0));
  expect(errorsOf(schema, deep(50))[0]?.loc).toEqual([...Array<number>(20).fill(0), '…']);
});

test('an error says the start of what the schema says at length', () => {
  const [error] = errorsOf({ pattern: `^${'a'.repeat(900)}$` }, 'b');
  expect(error?.msg).toMatch(/^must match pattern "\^a{200,}…$/);
  expect(error?.msg).toHaveLength(301);
});

test('the errors of the last value are not kept with the schema', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const compiled = compileJsonSchema({ additionalProperties: { anyOf: Array.from({ length: 400 }, () => false) } });
  if (!compiled.ok) throw new Error(compiled.msg);
  collect();
  const before = process.memoryUsage().heapUsed;
  expect(compiled.validate({ ['~/'.repeat(6000)]: 1 }).ok).toBe(false);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
  expect(compiled.validate({})).toEqual({ ok: true });
});
