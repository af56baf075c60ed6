import { describe, expect, test } from 'vitest';
import { globCovers } from './glob-covers.ts';
import { lintPolicy } from './lint-policy.ts';
import { compilePolicy, type PolicyDefinition } from './policy.ts';

const SERVERS = ['metrics', 'tickets'];

function lint(rules: PolicyDefinition['rules'], servers = SERVERS): string[] {
  const policy = compilePolicy({ default: 'deny', rules }, () => true);
  if (!policy.ok) throw new Error(policy.message);
  return lintPolicy(policy.rules, servers);
}

const deny = (target: object) => ({ deny: target, reason: 'no' });

test.each<[string, PolicyDefinition['rules'], string]>([
  [
    'a server that is not configured',
    [{ allow: { server: 'metric' } }],
    'tool_policy.rules[0]: "metric" matches no tool server, so the rule has no effect; configured: metrics, tickets',
  ],
  [
    'a rule behind one for all its calls',
    [{ allow: { server: 'metrics' } }, deny({ server: 'metrics', tool: 'drop_*' })],
    'tool_policy.rules[1]: no call reaches it, because rule 0 before it decides',
  ],
  [
    'a rule behind the same one',
    [deny({ tool: 'x', input_regex: 'a' }), { allow: { tool: 'x', input_regex: 'a' } }],
    'tool_policy.rules[1]: no call reaches it, because rule 0 before it decides',
  ],
  [
    'a rule whose servers have one each before it',
    [{ allow: { server: 'metrics' } }, { allow: { server: 'tickets' } }, deny({ tool: 'drop' })],
    'tool_policy.rules[2]: no call reaches it, because rules 0, 1 before it decide',
  ],
  [
    'a narrower glob behind a wider one',
    [{ allow: { tool: 'read_*' } }, { require_approval: { tool: 'read_secret*', agent: 'triage' } }],
    'tool_policy.rules[1]: no call reaches it, because rule 0 before it decides',
  ],
  [
    'an expression that an agent satisfies in any key',
    [{ allow: { tool: 'restart', input_regex: '"namespace":"staging"' } }],
    'tool_policy.rules[0]: its input_regex may match anywhere in the input, also in a key that the tool does not read; begin it with ^ and end it with $',
  ],
])('%s is warned of', (_, rules, warning) => {
  expect(lint(rules)).toEqual([warning]);
});

test.each<[string, PolicyDefinition['rules']]>([
  ['narrower rules first', [deny({ server: 'metrics', tool: 'drop_*' }), { allow: { server: 'metrics' } }]],
  ['an earlier rule for some inputs', [deny({ tool: 'x', input_regex: 'a' }), { allow: { tool: 'x' } }]],
  ['an earlier rule for some agents', [deny({ agent: 'a*' }), { allow: { tool: 'x' } }]],
  ['one of the servers is left', [{ allow: { server: 'metrics' } }, deny({ tool: 'drop' })]],
  ['an expression of the whole input', [{ allow: { input_regex: '^{"namespace":"staging"}$' } }]],
  ['an expression that denies', [deny({ input_regex: 'kube-system' })]],
  ['globs that overlap', [deny({ tool: 'a*' }), { allow: { tool: '*b' } }]],
  ['a spelling that a deny rule folds', [deny({ server: 'METRICS' })]],
])('nothing is warned of: %s', (_, rules) => {
  expect(lint(rules)).toEqual([]);
});

test('without tool servers only a rule that names one is warned of', () => {
  expect(lint([{ allow: { tool: 'a' } }, { allow: { tool: 'a' } }, { allow: { server: '*' } }], [])).toEqual([]);
  expect(lint([{ allow: { server: 'm*' } }], [])).toEqual([
    'tool_policy.rules[0]: "m*" matches no tool server, so the rule has no effect; none is configured',
  ]);
});

describe('a glob covers another', () => {
  test.each([
    ['*', 'a?*', true],
    ['a*', 'ab*', true],
    ['a*', 'a*', true],
    ['a?', 'ab', true],
    ['a?c*', 'a?cd?', true],
    ['*b', 'a*b', true],
    ['a?', 'a*', false],
    ['?*', '*', false],
    ['ab*', 'a*', false],
    ['a', '?', false],
    ['*a*', 'b*', false],
    ['??', '*', false],
  ])('%s, %s: %s', (outer, inner, expected) => {
    expect(globCovers(outer, inner)).toBe(expected);
  });
});
