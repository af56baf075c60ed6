import { expect, test } from 'vitest';
import type { KnownNames } from './agent-record.ts';
import { validateAgent } from './validate.ts';

const known: KnownNames = {
  modelProblem: () => null,
  maxIterations: 10,
  keylessProvider: () => null,
  servers: new Map(),
  modeOf: () => 'process',
};

test('of an agent with thousands of unknown keys the first problems are listed, and how many more there are', async () => {
  const agentYaml = `name: a\nmodel: m\n${Array.from({ length: 4900 }, (_, index) => `k${index}: 1\n`).join('')}`;
  const candidate = { agentYaml, soul: 'You look.', expectedName: 'a', managedBy: null };
  const validated = await validateAgent(candidate, known, async () => ({ ok: true }));
  const errors = validated.ok ? [] : validated.errors;
  expect(errors).toHaveLength(101);
  expect(errors[0]).toMatchObject({ agent: 'a', message: 'unknown key' });
  expect(errors.at(-1)).toMatchObject({ field: 'agent_yaml', message: 'and 4800 more problems', severity: 'error' });
});

test('problems of an agent with a long key, value, tag or name are short', async () => {
  const long = 'x'.repeat(100_000);
  const texts = [
    `name: a\nmodel: m\n${long}: 1\n`,
    `name: a\nmodel: m\nlimits: {${long}: 1}\n`,
    `name: a\nmodel: m\nretries: "${long}"\n`,
    `name: !${long} a`,
    `name: ${long}\nmodel: m\na: 1\nb: 1\n`,
  ];
  for (const agentYaml of texts) {
    const candidate = { agentYaml, soul: 'You look.', expectedName: 'a', managedBy: null };
    const validated = await validateAgent(candidate, known, async () => ({ ok: true }));
    const errors = validated.ok ? [] : validated.errors;
    expect(errors.length).toBeGreaterThan(0);
    expect(JSON.stringify(errors).length).toBeLessThan(1_500 * errors.length);
  }
});
