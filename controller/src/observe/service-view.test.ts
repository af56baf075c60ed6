import { expect, test } from 'vitest';
import { keyOf, readAgents, readDefinitions } from './service-view.ts';

test('what a gateway could not load of an agent is known, and not what it says of a file that made room', () => {
  const view = readAgents('gateway-0', {
    agents: [{ name: 'kept', version: 'abc' }],
    errors: [
      { agent: 'broken', field: 'model', value: 'gone/x', message: '"gone/x" maps to no configured provider' },
      { agent: 'kept', field: 'model', message: 'provider "x" has no key', severity: 'warning' },
      { agent: 'kept', field: 'name', value: 'kept', message: 'the name belongs to a managed agent' },
    ],
  });
  expect([...(view?.errors ?? [])]).toEqual([
    [keyOf('Agent', 'broken'), 'model: "gone/x" maps to no configured provider'],
  ]);
  expect([...(view?.warnings ?? [])]).toEqual([[keyOf('Agent', 'kept'), 'model: provider "x" has no key']]);
});

test('what a service warns of in a definition is known', () => {
  const definitions = [{ kind: 'Pipeline', name: 'checkout', hash: 'abc' }];
  const warnings = [
    { kind: 'Pipeline', name: 'checkout', msg: 'OPS_HOOK is not allowed', loc: [] },
    { file: 'x', msg: 'y' },
  ];
  const view = readDefinitions('api-0', { definitions, warnings });
  expect([...(view?.warnings ?? [])]).toEqual([[keyOf('Pipeline', 'checkout'), 'OPS_HOOK is not allowed']]);
});

test('of what a service says only so much is taken that a status holds it', () => {
  const message = 'x'.repeat(100_000);
  const errors = [{ agent: 'a', field: 'model', message }];
  const discovered_tools = Array.from({ length: 1000 }, (_, at) => ({
    server: 's',
    name: `${at}-${'x'.repeat(200)}`,
    hash: 'h',
  }));
  const agents = readAgents('gateway-0', { agents: [{ name: 'a', version: 'v', discovered_tools }], errors });
  expect(agents?.tools.size).toBe(0);
  expect(agents?.errors.get(keyOf('Agent', 'a'))).toHaveLength(1001);
  const warnings = [{ kind: 'Pipeline', name: 'a', msg: message }];
  const view = readDefinitions('api-0', { definitions: [], warnings });
  expect(view?.warnings.get(keyOf('Pipeline', 'a'))).toHaveLength(1001);
});

test('verdicts of pipelines come with their sentence, or without', () => {
  const definition = { kind: 'Pipeline', hash: 'h' };
  const view = readDefinitions('api-server-0', {
    definitions: [
      { ...definition, name: 'told', verdict: 'building', verdict_reason: '7 of 20' },
      { ...definition, name: 'bare', verdict: 'ready' },
      { ...definition, name: 'none', verdict: null, verdict_reason: null },
      { ...definition, name: 'odd', verdict: 7, verdict_reason: ['x'] },
    ],
  });
  expect([...(view?.verdicts ?? [])]).toEqual([
    [keyOf('Pipeline', 'told'), { verdict: 'building', reason: '7 of 20' }],
    [keyOf('Pipeline', 'bare'), { verdict: 'ready' }],
  ]);
});

test('a long reason of a golden set is cut, and those of others stay', () => {
  const golden_sets = [
    { name: 'long', verdict: 'failed', reason: 'x'.repeat(1_025) },
    { name: 'short', verdict: 'passed', reason: 'all agree' },
  ];
  const view = readDefinitions('api-server-0', { definitions: [], golden_sets });
  expect(view?.goldenSets.get('long')?.reason).toHaveLength(1_001);
  expect(view?.goldenSets.get('short')).toEqual({ verdict: 'passed', reason: 'all agree' });
});

test.each<[string, (pod: string, body: unknown) => unknown, object]>([
  ['definitions', readDefinitions, {}],
  ['agents', readAgents, {}],
])('a list of %s without end is refused by its length, not by each entry', (key, read, body) => {
  let looked = 0;
  const entry = {
    get name() {
      looked += 1;
      return 'a';
    },
  };
  expect(read('pod', { ...body, [key]: Array.from({ length: 50_001 }, () => entry) })).toBeNull();
  expect(looked).toBe(0);
});

test('problems of a tenant without end hide nothing of what is loaded', () => {
  const noise = { kind: 'Pipeline', name: 'noise', msg: 'shell checks are not allowed here' };
  const problems = [{ ...noise, msg: 'the first' }, ...Array.from({ length: 60_000 }, () => noise)];
  const definitions = [{ kind: 'Pipeline', name: 'other', hash: 'abc' }];
  const view = readDefinitions('api-0', { definitions, errors: problems, warnings: problems });
  expect(view?.hashes).toEqual(new Map([[keyOf('Pipeline', 'other'), 'abc']]));
  expect(view?.warnings).toEqual(new Map([[keyOf('Pipeline', 'noise'), 'the first']]));
  const errors = Array.from({ length: 60_000 }, () => ({ agent: 'noise', field: 'model', message: 'm' }));
  const gateway = readAgents('gateway-0', { agents: [{ name: 'other', version: 'v' }], errors });
  expect(gateway?.hashes).toEqual(new Map([[keyOf('Agent', 'other'), 'v']]));
});
