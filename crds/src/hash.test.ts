import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentVersion, canonicalJson, contentHash, promptHash, shortHash } from './hash.ts';

test.each<[unknown, string]>([
  [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
  [{ '\u20ac': 1, '\r': 2, '1': 3, '\ud83d\ude00': 4, '\ufb33': 5 }, '{"\\r":2,"1":3,"€":1,"😀":4,"\ufb33":5}'],
  [[333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0], '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]'],
  [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
])('canonical JSON of %j', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test('canonical JSON is JSON of the same value, whatever the order of its keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(reversed(value))).toBe(text);
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

test('hashes are twelve hex digits that tell values apart', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(shortHash(a)).toMatch(/^[0-9a-f]{12}$/);
      if (canonicalJson(a) !== canonicalJson(b)) expect(shortHash(a)).not.toBe(shortHash(b));
    }),
  );
  expect(promptHash('Check {{summary}}')).toBe('eda801cca870');
});

test('two definitions that were made to share a short hash have two content hashes', () => {
  const [one, other] = ['9881771', '34126042'].map((description) => ({ name: 'p', description, steps: [] }));
  expect(shortHash(one)).toBe(shortHash(other));
  expect(contentHash(one)).toMatch(/^[0-9a-f]{32}$/);
  expect(contentHash(one)).not.toBe(contentHash(other));
});

test('an agent version follows behaviour and not description, tags, runtime or line ends', () => {
  const config = { name: 'a', model: 'm', tools: ['s'] };
  const version = agentVersion(config, 'You are.\nBe brief.');
  expect(
    agentVersion(
      { ...config, description: 'x', tags: ['t'], runtime: { mode: 'process' } },
      'You are.\r\nBe brief.\n\n',
    ),
  ).toBe(version);
  expect(agentVersion({ ...config, temperature: 0 }, 'You are.\nBe brief.')).not.toBe(version);
  expect(agentVersion(config, 'You are.\nBe long.')).not.toBe(version);
});
