import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sharing } from './sharing.ts';

test('equal parts are those of the other value, and what differs stays', () => {
  const like = { steps: [{ prompt: 'x', schema: { a: [1, { b: 2 }] } }, { prompt: 'y' }] };
  const copy = structuredClone(like);
  expect(sharing(copy, like)).toBe(like);
  const other = { ...copy, steps: [{ ...copy.steps[0], on_error: 'fail' }, copy.steps[1]] };
  const shared = sharing(other, like);
  expect(shared).toEqual(other);
  expect((shared.steps[0] as (typeof like.steps)[0]).schema).toBe(like.steps[0]?.schema);
  expect(shared.steps[1]).toBe(like.steps[1]);
});

test.each([
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [[1], { 0: 1 }],
  [{ 0: 1 }, [1]],
  [{ a: undefined }, {}],
  [JSON.parse('{"__proto__":{}}') as object, {}],
  [{ toString: 1 }, {}],
])('%j is not taken for %j', (value, like) => {
  const shared = sharing(value, like);
  expect(shared).not.toBe(like);
  expect(JSON.stringify(shared)).toBe(JSON.stringify(value));
  expect(Object.keys(shared)).toEqual(Object.keys(value));
});

test('no value changes, whatever it is compared with', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (value, like) => {
      expect(JSON.stringify(sharing(JSON.parse(value), JSON.parse(like)))).toBe(JSON.stringify(JSON.parse(value)));
    }),
  );
});
