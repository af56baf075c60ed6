import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createCompute } from '@signalbox/crds/process/compute';
import { foldName } from './fold-name.ts';
import { globMatches } from './glob.ts';
import { compilePolicy, MAX_TESTED_INPUT_CHARS, type PolicyCall, type PolicyDefinition } from './policy.ts';

const { matches } = createCompute({ timeoutMs: 20_000 });

const CALL: PolicyCall = { server: 'k8s', tool: 'delete_pod', agent: 'triage', input: '{"namespace":"shop"}' };

function decide(
  rules: PolicyDefinition['rules'],
  call: Partial<PolicyCall> = {},
  fallback: 'allow' | 'deny' = 'allow',
) {
  const policy = compilePolicy({ default: fallback, rules }, matches);
  if (!policy.ok) throw new Error(policy.message);
  return policy.decide({ ...CALL, ...call });
}

test('expressions take turns with those of the same caller, and without one with those of the agent', async () => {
  const asked = vi.fn<() => boolean>(() => false);
  const policy = compilePolicy({ default: 'allow', rules: [{ deny: { input_regex: 'x' }, reason: 'x' }] }, asked);
  if (!policy.ok) throw new Error(policy.message);
  await policy.decide({ ...CALL, share: 'shop' });
  await policy.decide(CALL);
  expect(asked.mock.calls).toEqual([
    ['x', CALL.input, 'shop'],
    ['x', CALL.input, 'triage'],
  ]);
});

test('the first rule that matches decides, else the default', async () => {
  const rules = [
    { allow: { server: 'k8s', tool: 'get_*' } },
    { deny: { server: 'k8s' }, reason: 'read only' },
    { require_approval: { tool: '*' } },
  ];
  expect(await decide(rules, { tool: 'get_pod' })).toEqual({ action: 'allow', rule: 0, reason: null });
  expect(await decide(rules)).toEqual({ action: 'deny', rule: 1, reason: 'read only' });
  expect((await decide(rules, { server: 'git' })).action).toBe('require_approval');
  expect(await decide([], {})).toEqual({ action: 'allow', rule: null, reason: null });
  expect((await decide([], {}, 'deny')).action).toBe('deny');
});

test('every key of a rule must match', async () => {
  const rules = [
    { deny: { server: 'k8s', tool: '*', agent: 'triage', input_regex: '"namespace":"(shop|canary)"' }, reason: 'x' },
  ];
  expect((await decide(rules)).action).toBe('deny');
  expect((await decide(rules, { agent: 'other' })).action).toBe('allow');
  expect((await decide(rules, { input: '{"namespace":"dev"}' })).action).toBe('allow');
});

test('input that is too large to be tested is denied under a deny rule and not allowed under an allow rule', async () => {
  const input = `{"a":"${'x'.repeat(MAX_TESTED_INPUT_CHARS)}"}`;
  expect((await decide([{ deny: { input_regex: 'never' }, reason: 'x' }], { input })).action).toBe('deny');
  expect((await decide([{ require_approval: { input_regex: 'never' } }], { input })).action).toBe('deny');
  expect((await decide([{ allow: { input_regex: 'x' } }], { input }, 'deny')).action).toBe('deny');
});

test('a pattern that is no RE2 is refused with its place', () => {
  const policy = compilePolicy({ default: 'allow', rules: [{ deny: { input_regex: '(?=x)' }, reason: 'x' }] }, matches);
  expect(policy).toMatchObject({ ok: false, message: expect.stringContaining('tool_policy.rules.0.deny.input_regex') });
});

describe('other spellings of a denied name', () => {
  const fullWidth = (name: string) =>
    name.replace(/[a-z]/g, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfee0));
  const spelling = fc.constantFrom(
    (name: string) => name.toUpperCase(),
    (name: string) => ` ${name}`,
    (name: string) => `${name}\t`,
    (name: string) => `${name}\u200b`,
    (name: string) => `\u2060${name}`,
    (name: string) => name.split('').join('\u00ad'),
    (name: string) => name.replace('_', ' _ '),
    (name: string) => name.split('').join(' '),
    fullWidth,
    (name: string) => name.normalize('NFD'),
    (name: string) => name.normalize('NFD').split('').join('\u200d'),
    (name: string) => `${name}\ufe0f`,
    (name: string) => name.split('').join('\u034f'),
    (name: string) => `\u3164${name}`,
  );
  const name = fc.constantFrom(
    'delete_pod',
    'drop_table',
    'exec',
    'lösche_alles',
    'διαγραφή_όλων_τους_πόρους',
    'große_löschung',
  );

  test('are denied all the same', async () => {
    await fc.assert(
      fc.asyncProperty(name, fc.array(spelling, { minLength: 1, maxLength: 3 }), async (tool, spellings) => {
        const written = spellings.reduce<string>((form, respell) => respell(form), tool);
        return (
          (await decide([{ deny: { server: 'k8s', tool }, reason: 'x' }], { tool: written, server: 'K8S ' })).action ===
          'deny'
        );
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['gro?e', 'große'],
    ['?le', 'ﬁle'],
    ['a?c', 'a😀c'],
  ])('are no way around %j for a name that is longer otherwise: %j', async (tool, written) => {
    expect((await decide([{ deny: { tool }, reason: 'x' }], { tool: written })).action).toBe('deny');
  });

  test('are not allowed by a rule for the name', async () => {
    await fc.assert(
      fc.asyncProperty(name, spelling, async (tool, respell) => {
        const written = respell(tool);
        const { action } = await decide([{ allow: { tool } }], { tool: written }, 'deny');
        return written === tool ? action === 'allow' : action === 'deny';
      }),
      { numRuns: 500 },
    );
  });

  test('no call is allowed whose name is longer than any name is', async () => {
    const long = '\ufdfa'.repeat(257);
    for (const name of [{ tool: long }, { server: long }, { agent: long }])
      expect(await decide([{ allow: { tool: '*' } }], name)).toMatchObject({ action: 'deny', rule: null });
    expect(await decide([{ deny: { tool: 'x' } }], { tool: long.slice(1) })).toMatchObject({ action: 'allow' });
  });

  test('a name is folded once, however many rules there are', async () => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    const calls = async (count: number) => {
      const rules = Array.from({ length: count }, () => ({ deny: { tool: 'x' } }));
      const policy = compilePolicy({ default: 'allow', rules }, matches);
      normalize.mockClear();
      if (policy.ok) await policy.decide(CALL);
      return normalize.mock.calls.length;
    };
    expect(await calls(50)).toBe(await calls(1));
    normalize.mockRestore();
  });

  test('folding is stable', () => {
    const letters = fc.constantFrom(
      'e',
      'I',
      '\u0130',
      '\u0301',
      '\u0307',
      '\u0345',
      '\u200d',
      '\u00a8',
      '\u1e9e',
      '\u3164',
      ' ',
    );
    for (const text of [fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.string({ unit: letters })])
      fc.assert(
        fc.property(text, (name) => foldName(foldName(name)) === foldName(name)),
        { numRuns: 2000 },
      );
  });
});

describe('globs', () => {
  test.each([
    ['*', '', true],
    ['*', 'anything/at all', true],
    ['get_*', 'get_', true],
    ['get_*', 'forget_x', false],
    ['*_pod', 'delete_pod', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a😀c', true],
    ['a??c', 'a😀c', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
    ['', 'a', false],
  ])('%j against %j: %s', (pattern, text, expected) => {
    expect(globMatches(pattern, text)).toBe(expected);
  });

  test('agree with the regular expression of the same meaning', () => {
    const char = fc.constantFrom('a', 'b', '*', '?');
    fc.assert(
      fc.property(
        fc.string({ unit: char, maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }),
        (pattern, text) => {
          const regex = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
          return globMatches(pattern, text) === regex.test(text);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('agree with it where parts between stars are long', () => {
    const char = fc.record({ name: fc.constantFrom('a', 'b', '😀'), sign: fc.constantFrom('?', '?', '*', null) });
    fc.assert(
      fc.property(fc.array(char, { minLength: 40, maxLength: 150 }), (chars) => {
        const textOf = (some: typeof chars) => some.map((one) => one.name).join('');
        const [name, rest] = [textOf(chars), textOf(chars.slice(1))];
        const pattern = chars.map((one) => one.sign ?? one.name).join('');
        const regex = (glob: string) => new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'u');
        expect(globMatches(pattern, name)).toBe(true);
        const [part] = pattern.split(/\*/).toSorted((a, b) => b.length - a.length);
        for (const glob of [`*${part}`, `${part}*`, `*${part}*`]) {
          expect(globMatches(glob, name)).toBe(regex(glob).test(name));
          expect(globMatches(glob, rest)).toBe(regex(glob).test(rest));
        }
      }),
    );
  });

  test('are fast on what blocks a backtracking matcher', () => {
    expect(globMatches(`${'a*'.repeat(500)}b`, 'a'.repeat(50_000))).toBe(false);
  });

  test.each([
    ['a', 200_000, 2_000_000],
    ['a?', 1_000, 500_000],
  ])('are fast where a long part of "%s" begins everywhere', (part, times, chars) => {
    expect(globMatches(`*${part.repeat(times)}b*`, 'a'.repeat(chars))).toBe(false);
  });

  test('read a name once, however many parts they have', () => {
    const reads = vi.spyOn(String.prototype, Symbol.iterator);
    const readsOf = (glob: string) => {
      reads.mockClear();
      expect(globMatches(glob, 'a'.repeat(256))).toBe(false);
      return reads.mock.calls.length;
    };
    expect(readsOf(`${'*a?'.repeat(80)}*Z`)).toBe(readsOf('*?*Z'));
    reads.mockRestore();
  });
});
