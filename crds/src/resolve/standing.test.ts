import { expect, test } from 'vitest';
import { resolveSet, type SetInput } from './resolve-set.ts';
import { createResolveMemo } from './resolve-memo.ts';
import type { TenancyRules } from './standing.ts';

const step = (more = '') => `steps: [{name: a, executor: gateway, agent: triage, prompt_template: hi${more}}]`;
const pipeline = (name: string, namespace: string | undefined, body = step()) => ({
  file: `${name}.yaml`,
  text: `name: ${name}\n${body}\n`,
  ...(namespace === undefined ? {} : { namespace }),
});
const tenancy = (more: Partial<TenancyRules> = {}): TenancyRules => ({
  open: false,
  library: [],
  namespaces: {},
  home: 'ops',
  ...more,
});
const resolve = (rules: TenancyRules, ...pipelines: SetInput['pipelines']) => {
  const { pipelines: sound, problems } = resolveSet({ pipelines, steps: [], operator: { tenancy: rules } });
  return {
    sound: sound.map(({ name }) => name),
    said: problems.map(({ severity, reason, loc, msg }) => [severity, reason, loc.join('.'), msg]),
    standings: sound.map(({ standing }) => standing),
  };
};

test.each<[string, Partial<TenancyRules>, string | undefined, boolean]>([
  ['a file of the operator', {}, undefined, true],
  ['the namespace of the release', {}, 'ops', true],
  ['another namespace', {}, 'shop', false],
  ['another namespace that is listed', { namespaces: { shop: {} } }, 'shop', true],
  ['another namespace of an open service', { open: true }, 'shop', true],
  ['a namespace like the release’s where the release’s is not known', { home: null }, 'ops', false],
  ['a file whose namespace is not known', { home: '' }, '', false],
  ['a namespace with the name of something that every object has', {}, 'constructor', false],
])('%s: whether alerts start it', (_what, rules, namespace, admitted) => {
  const { sound, said, standings } = resolve(tenancy(rules), pipeline('p', namespace));
  expect(sound).toEqual(['p']);
  expect(standings[0]?.admitted).toBe(admitted);
  const warning = `no alert and no schedule starts it: namespace "${namespace}" is not listed in tenancy.namespaces`;
  expect(said).toEqual(admitted ? [] : [['warning', 'not_allowed', '', warning]]);
});

test('without rules nothing is restricted', () => {
  const [found] = resolveSet({ pipelines: [pipeline('p', 'shop')], steps: [] }).pipelines;
  expect(found?.standing).toEqual({ namespace: null, admitted: true, tenant: null });
});

test.each([
  ['an agent', step()],
  ['a branch', `steps: [{name: g, parallel: {join: all_must_pass, ${step()}}}]`],
  ['a backend of another kind', step().replace('gateway', 'external')],
  ['a verifier', step(', verifier: {agent: triage}').replace('agent: triage,', 'agent: own-one,')],
  [
    'a judge of another backend',
    step(', grounding: {agent: triage, executor: external}').replace('agent: triage,', 'agent: own-one,'),
  ],
])('%s that the namespace may not use is an error of the pipeline, by its place', (_what, body) => {
  const { sound, said } = resolve(
    tenancy({ namespaces: { shop: { agents: ['own-*'] } } }),
    pipeline('p', 'shop', body),
  );
  expect(sound).toEqual([]);
  expect(said).toHaveLength(1);
  expect(said[0]?.[0]).toBe('error');
  expect(said[0]?.[2]).toMatch(/agent$/);
  expect(said[0]?.[3]).toBe('namespace "shop" may not use the agent "triage" (tenancy.namespaces)');
});

test.each([
  [['triage'], ['p']],
  [['tri*'], ['p']],
  [['*'], ['p']],
  [['triag'], []],
  [['triage-2'], []],
  [[], []],
])('of the agents %j', (agents, sound) => {
  expect(resolve(tenancy({ namespaces: { shop: { agents } } }), pipeline('p', 'shop')).sound).toEqual(sound);
});

test('an agent out of a library step counts like the pipeline’s own', () => {
  const { pipelines } = resolveSet({
    pipelines: [pipeline('p', 'shop', 'steps: [{name: a, use: shared}]')],
    steps: [
      { file: 's.yaml', text: 'name: shared\nexecutor: gateway\nagent: triage\nprompt_template: hi', namespace: 'ops' },
    ],
    operator: { tenancy: tenancy({ namespaces: { shop: { agents: ['other'] } } }) },
  });
  expect(pipelines).toEqual([]);
});

const LISTED = { shop: {}, bank: {} };
const library = (namespace: string | undefined) => ({
  file: 's.yaml',
  text: 'name: shared\nexecutor: gateway\nagent: triage\nprompt_template: hi',
  ...(namespace === undefined ? {} : { namespace }),
});
test.each<[string | undefined, string | undefined, Partial<TenancyRules>, boolean]>([
  ['shop', undefined, { namespaces: LISTED }, true],
  ['shop', 'ops', { namespaces: LISTED }, true],
  ['shop', 'ops', { namespaces: { ...LISTED, ops: {} } }, true],
  ['shop', 'shop', { namespaces: LISTED }, true],
  ['shop', 'bank', { namespaces: LISTED }, false],
  ['shop', 'bank', { namespaces: LISTED, library: ['bank'] }, true],
  ['shop', 'not-listed', { namespaces: LISTED }, false],
  ['shop', 'not-listed', { namespaces: LISTED, open: true }, true],
  ['shop', '', { namespaces: LISTED, home: '' }, false],
  ['ops', 'bank', { namespaces: LISTED }, false],
  ['ops', 'bank', { namespaces: LISTED, library: ['bank'] }, true],
  ['ops', 'not-listed', {}, false],
  [undefined, 'bank', { namespaces: LISTED }, false],
  [undefined, 'ops', {}, true],
  ['not-listed', 'not-listed', {}, true],
])(
  'a pipeline of %s uses the library step that has the name now, of %s, with the rules %j: %s',
  (user, owner, rules, may) => {
    const { pipelines, problems } = resolveSet({
      pipelines: [pipeline('p', user, 'steps: [{name: a, use: shared}]')],
      steps: [library(owner)],
      operator: { tenancy: tenancy(rules) },
    });
    expect(pipelines.map(({ name }) => name)).toEqual(may ? ['p'] : []);
    const who = user === undefined ? 'a file of the operator' : `namespace "${user}"`;
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject(
      may
        ? []
        : [
            {
              reason: 'not_allowed',
              loc: ['steps', 0, 'use'],
              msg: `${who} may not use the library step "shared", which is of namespace "${owner}" (tenancy.library)`,
            },
          ],
    );
  },
);

test('a library step whose name another namespace takes is refused from then on, though its text is the same', () => {
  const memo = createResolveMemo();
  const operator = { tenancy: tenancy({ namespaces: LISTED, library: ['bank'] }) };
  const pipelines = [pipeline('p', 'ops', 'steps: [{name: a, use: shared}]')];
  const names = (owner: string) =>
    resolveSet({ pipelines, steps: [library(owner)], operator }, memo).pipelines.map(({ name }) => name);
  expect([names('bank'), names('shop'), names('bank')]).toEqual([['p'], [], ['p']]);
});

const agent = (name: string, namespace: string) => ({
  file: `${name}.yaml`,
  text: `name: ${name}\nmodel: demo/any\n`,
  soul: 'Be brief.',
  namespace,
});
test.each([
  ['shop-a', ['shop-*'], true],
  ['restarter', ['shop-*'], false],
  ['restarter', undefined, true],
  ['restarter', [], false],
])('the agent %s of a namespace that may use %j is defined: %s', (name, agents, may) => {
  const rules = tenancy({ namespaces: { shop: agents ? { agents } : {} } });
  const set = resolveSet({ pipelines: [], steps: [], agents: [agent(name, 'shop')], operator: { tenancy: rules } });
  expect(set.agents.map((one) => one.name)).toEqual(may ? [name] : []);
  const msg = `namespace "shop" may not define the agent "${name}" (agents of tenancy.namespaces)`;
  expect(set.problems).toMatchObject(may ? [] : [{ severity: 'error', reason: 'not_allowed', loc: ['name'], msg }]);
});

test.each<[string, TenancyRules['namespaces'], string | undefined, string[]]>([
  ['a listed namespace has no such right', { shop: {} }, 'shop', ['nodeSelector', 'labels']],
  ['the right is for each key', { shop: { pod_fields: ['labels'] } }, 'shop', ['nodeSelector']],
  ['with all rights', { shop: { pod_fields: ['labels', 'nodeSelector'] } }, 'shop', []],
  ['a namespace that is not listed', {}, 'shop', ['nodeSelector', 'labels']],
  ['the namespace of the release', {}, 'ops', []],
  ['a file of the operator', {}, undefined, []],
])('what the pods of an agent get, %s', (_what, namespaces, namespace, refused) => {
  const { text, ...rest } = agent('a', 'shop');
  const runtime = 'runtime: {replicas: 2, nodeSelector: {disk: ssd}, labels: {a: b}}';
  const agents = [{ ...rest, text: `${text}${runtime}\n`, namespace }];
  const { problems } = resolveSet({ pipelines: [], steps: [], agents, operator: { tenancy: tenancy({ namespaces }) } });
  expect(problems.map(({ reason, loc }) => [reason, loc.join('.')])).toEqual(
    refused.map((field) => ['not_allowed', `runtime.${field}`]),
  );
});

const calling = (to: string) => `steps: [{name: c, executor: pipeline, pipeline: ${to}}]`;
test.each([
  ['its own', 'shop', true],
  ['the release’s', 'ops', false],
  ['another tenant’s', 'bank', false],
  ['a file', undefined, false],
])('a tenant starts %s pipelines', (_what, namespace, may) => {
  const rules = tenancy({ namespaces: { shop: {}, bank: {} } });
  const { sound, said } = resolve(rules, pipeline('p', 'shop', calling('q')), pipeline('q', namespace));
  expect(sound).toEqual(may ? ['p', 'q'] : ['q']);
  expect(said.map(([, reason]) => reason)).toEqual(may ? [] : ['not_allowed']);
});

test('the release’s own pipelines start those of tenants', () => {
  const rules = tenancy({ namespaces: { shop: {} } });
  expect(resolve(rules, pipeline('p', 'ops', calling('q')), pipeline('q', 'shop')).sound).toEqual(['p', 'q']);
});

test.each([
  ['ops', 'dev', { namespaces: { shop: {} } }, false],
  ['ops', 'dev', { open: true }, true],
  [undefined, 'dev', {}, false],
  [undefined, 'shop', { namespaces: { shop: {} } }, true],
  ['dev', 'dev', {}, true],
  ['dev', 'ops', {}, false],
  ['dev', undefined, {}, false],
  ['dev', 'ops', { open: true }, true],
])('of pipelines of %s and one of %s, with the rules %j, the first start the second: %s', (from, to, rules, may) => {
  const { sound, said } = resolve(tenancy(rules), pipeline('p', from, calling('q')), pipeline('q', to));
  expect(sound).toEqual(may ? ['p', 'q'] : ['q']);
  const errors = said.filter(([severity]) => severity === 'error');
  expect(errors.map(([, reason, , msg]) => [reason, msg])).toEqual(
    may ? [] : [['not_allowed', expect.stringMatching(/^(namespace "\w+"|a file of the operator) may not start/)]],
  );
});

test('a definition that moves to another namespace is judged again, though its text is the same', () => {
  const memo = createResolveMemo();
  const operator = { tenancy: tenancy({ namespaces: { shop: { agents: [] }, bank: {} } }) };
  const names = (namespace: string) =>
    resolveSet({ pipelines: [pipeline('p', namespace)], steps: [], operator }, memo).pipelines.map(({ name }) => name);
  expect([names('bank'), names('shop'), names('bank')]).toEqual([['p'], [], ['p']]);
});
