import { createResolveMemo, PodFields, type TenancyRules } from '@signalbox/crds';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutAccepted, withoutSpec } from '../objects/custom-object.ts';
import { createWorld } from '../objects/world.ts';
import { objectOf, STEP } from '../testing/objects.ts';
import { plan, type Verdict } from './plan.ts';

const byName = (verdicts: readonly Verdict[], name: string) => verdicts.find(({ object }) => object.name === name);
const using = { steps: [{ name: 'first', use: 'look' }] };
const broken = { steps: [{ name: 'look', executor: 'gateway', agnet: 'helper' }] };
const accepted = { name: 'checkout', steps: [{ name: 'old', ...STEP }] };

test('a sound object is served as written, under its own name where spec gives none', () => {
  const [verdict] = plan([objectOf()], undefined);
  expect(verdict).toMatchObject({ accepted: true, reason: 'Accepted', served: { name: 'checkout', from: 'spec' } });
  expect(verdict?.served?.text).toMatch(/^name: checkout\nsteps:/);
  expect(verdict?.body).toMatchObject({ name: 'checkout' });
});

test('a typo is named with its place, and keeps nobody else from being served', () => {
  const verdicts = plan([objectOf({ name: 'bad', spec: broken }), objectOf({ name: 'good' })], undefined);
  expect(byName(verdicts, 'bad')).toMatchObject({ accepted: false, reason: 'Invalid', served: null, body: null });
  expect(byName(verdicts, 'bad')?.message).toContain('agnet');
  expect(byName(verdicts, 'bad')?.message).toContain('spec.steps.0');
  expect(byName(verdicts, 'good')?.accepted).toBe(true);
});

test('a bad object is served as it was accepted last', () => {
  const [verdict] = plan([objectOf({ spec: broken, status: { lastAccepted: accepted } })], undefined);
  expect(verdict).toMatchObject({ accepted: false, served: { name: 'checkout', from: 'lastAccepted' } });
  expect(verdict?.served?.text).toContain('name: old');
  expect(verdict?.message).toContain('last accepted definition is served');
});

test('a bad object whose spec is too large to be kept says so, and is served as it was accepted last', () => {
  const large = { spec: {}, tooLarge: true };
  const step = objectOf({ kind: 'LibraryStep', name: 'look', ...large });
  const given = [
    objectOf({ ...large, status: { lastAccepted: accepted } }),
    step,
    objectOf({ name: 'user', spec: using }),
  ];
  const verdicts = plan(given, undefined);
  expect(byName(verdicts, 'checkout')).toMatchObject({ reason: 'TooLarge', served: { from: 'lastAccepted' } });
  expect(byName(verdicts, 'checkout')?.message).toContain('spec: is larger than a definition may be: 512 KiB');
  expect(byName(verdicts, 'look')).toMatchObject({ reason: 'TooLarge', served: null, lostName: false });
  expect(byName(verdicts, 'user')).toMatchObject({ reason: 'MissingStep' });
});

test('a step that is gone leaves its pipelines on what was accepted, and says MissingStep', () => {
  const step = objectOf({ kind: 'LibraryStep', name: 'look' });
  const pipeline = objectOf({ spec: using });
  const before = byName(plan([pipeline, step], undefined), 'checkout')!;
  expect(before).toMatchObject({ accepted: true, served: { text: expect.stringContaining('use: look') } });
  expect(before.body).toMatchObject({ steps: [{ name: 'first', executor: 'gateway' }] });
  const after = plan([objectOf({ spec: using, status: { lastAccepted: before.body! } })], undefined)[0]!;
  expect(after).toMatchObject({ accepted: false, reason: 'MissingStep', served: { from: 'lastAccepted' } });
  expect(after.served!.hash).toBe(before.served!.hash);
  expect(after.served!.text).not.toContain('use:');
});

test('a step that broke is taken over as it was accepted last, and its pipelines stay accepted', () => {
  const step = objectOf({
    kind: 'LibraryStep',
    name: 'look',
    spec: { executor: 'nothing' },
    status: { lastAccepted: { name: 'look', ...STEP } },
  });
  const verdicts = plan([objectOf({ spec: using }), step], undefined);
  expect(byName(verdicts, 'checkout')).toMatchObject({ accepted: true });
  expect(byName(verdicts, 'look')).toMatchObject({ accepted: false, served: { from: 'lastAccepted' } });
});

test('of steps that broke only 4 MiB are taken over in a namespace, and those of another as before', () => {
  const brokenStep = (name: string, namespace: string) => {
    const lastAccepted = { name, ...STEP, prompt_template: 'x'.repeat(60_000) };
    return objectOf({ kind: 'LibraryStep', name, namespace, spec: {}, status: { lastAccepted } });
  };
  const steps = Array.from({ length: 80 }, (_, at) => brokenStep(`look-${at}`, 'many'));
  const all = [...steps, brokenStep('other', 'few')];
  const users = all.map(({ name }) => objectOf({ name, spec: { steps: [{ name: 'first', use: name }] } }));
  const taken = plan([...users, ...all], undefined).filter(({ accepted: sound }) => sound);
  expect(taken.map(({ object }) => object.name)).toEqual([...steps.slice(0, 69).map(({ name }) => name), 'other']);
});

test('of two objects with one definition name the older keeps it, and the other is not served at all', () => {
  const older = objectOf({ namespace: 'z', createdAt: '2025-01-01T00:00:00Z' });
  const newer = objectOf({ namespace: 'a', status: { lastAccepted: accepted } });
  const verdicts = plan([newer, older], undefined);
  expect(verdicts.find(({ object }) => object === newer)).toMatchObject({
    accepted: false,
    reason: 'NameConflict',
    served: null,
    lostName: true,
  });
  expect(verdicts.find(({ object }) => object === newer)?.message).toContain('Pipeline z/checkout, which is older;');
  expect(verdicts.find(({ object }) => object === older)?.accepted).toBe(true);
});

test('of two objects of one second the first by name keeps the definition, and nobody is told that it is older', () => {
  const spec = { ...objectOf().spec, name: 'checkout' };
  const [first, second] = [objectOf({ name: 'a', spec }), objectOf({ name: 'b', spec })];
  const verdicts = plan([second, first], undefined);
  expect(byName(verdicts, 'a')?.accepted).toBe(true);
  expect(byName(verdicts, 'b')?.message).toContain(
    'Pipeline default/a, which has the same age and comes first by name;',
  );
});

test('what was accepted last is not served under a name that is another object by now', () => {
  const renamed = objectOf({ name: 'other', spec: { name: 'other', ...broken }, status: { lastAccepted: accepted } });
  expect(plan([renamed], undefined)[0]?.served?.name).toBe('checkout');
  const verdicts = plan([renamed, objectOf({ createdAt: '2027-01-01T00:00:00Z' })], undefined);
  expect(byName(verdicts, 'other')?.served).toBeNull();
});

test('an object of 1.4 MB is TooLarge', () => {
  const [verdict] = plan([objectOf({ spec: { ...using, description: 'x'.repeat(1_400_000) } })], undefined);
  expect(verdict).toMatchObject({ accepted: false, reason: 'TooLarge' });
});

test.each([{ name: '../../etc/passwd' }, { name: 'a/b' }, { name: 7 }, {}])(
  'a name of %o in what was accepted is never followed',
  (body) => {
    expect(plan([objectOf({ spec: broken, status: { lastAccepted: body } })], undefined)[0]?.served).toBeNull();
  },
);

test('an agent carries its instructions beside its configuration', () => {
  const [verdict] = plan([objectOf({ kind: 'Agent', name: 'helper' })], undefined);
  expect(verdict?.served).toMatchObject({ name: 'helper', soul: 'Be brief.\n' });
  expect(verdict?.served?.text).toBe('name: helper\nmodel: demo/any\n');
  expect(verdict?.body).toMatchObject({ soul: 'Be brief.\n' });
});

test('the order in which objects are known makes no difference', () => {
  const objects = [
    objectOf(),
    objectOf({ namespace: 'b' }),
    objectOf({ name: 'bad', spec: broken }),
    objectOf({ name: 'uses', spec: using }),
    objectOf({ kind: 'LibraryStep', name: 'look' }),
  ];
  const served = (verdicts: readonly Verdict[]) =>
    verdicts.map(({ object, ...rest }) => JSON.stringify([object.uid, rest])).toSorted();
  fc.assert(
    fc.property(fc.shuffledSubarray(objects, { minLength: objects.length }), (shuffled) => {
      expect(served(plan(shuffled, undefined))).toEqual(served(plan(objects, undefined)));
    }),
    { numRuns: 20 },
  );
});

const TENANCY = { open: false, library: [], home: 'ops', namespaces: { shop: { agents: ['shop-*'] } } };

test('a pipeline of a namespace that is not listed is accepted, and its condition says that no alert starts it', () => {
  const verdicts = plan([objectOf({ namespace: 'elsewhere' })], { tenancy: TENANCY });
  expect(verdicts[0]).toMatchObject({ accepted: true, reason: 'Accepted' });
  expect(verdicts[0]?.message).toContain('namespace "elsewhere" is not listed in tenancy.namespaces');
  expect(plan([objectOf({ namespace: 'ops' })], { tenancy: TENANCY })[0]?.message).toBe('the spec is valid');
});

test('an agent that the namespace may not use is NotAllowed, and the last accepted definition is served', () => {
  const [verdict] = plan([objectOf({ namespace: 'shop', status: { lastAccepted: accepted } })], { tenancy: TENANCY });
  expect(verdict).toMatchObject({ accepted: false, reason: 'NotAllowed', served: { from: 'lastAccepted' } });
  expect(verdict?.message).toContain('spec.steps.0.agent: namespace "shop" may not use the agent "helper"');
});

test('the release’s own object keeps its name, however long another one has waited for it', () => {
  const waiting = objectOf({ namespace: 'shop', createdAt: '2020-01-01T00:00:00Z' });
  const own = objectOf({ namespace: 'ops', createdAt: '2026-01-01T00:00:00Z' });
  const verdicts = plan([waiting, own], { tenancy: TENANCY });
  expect(verdicts.find(({ object }) => object === own)).toMatchObject({ accepted: true });
  const lost = verdicts.find(({ object }) => object === waiting);
  expect(lost).toMatchObject({ accepted: false, reason: 'NameConflict', served: null, lostName: true });
  expect(lost?.message).toContain('Pipeline ops/checkout, which is of the release’s namespace;');
});

test('a library step that another namespace publishes under a name that became free is not run by the pipelines that use it', () => {
  const own = objectOf({ kind: 'LibraryStep', name: 'look', namespace: 'ops' });
  const pipeline = objectOf({ spec: using, namespace: 'ops' });
  const before = byName(plan([pipeline, own], { tenancy: TENANCY }), 'checkout')!;
  expect(before).toMatchObject({ accepted: true });
  const theirs = objectOf({
    kind: 'LibraryStep',
    name: 'look',
    namespace: 'shop',
    spec: { executor: 'webhook', url: 'https://evil.example', method: 'POST' },
  });
  const later = objectOf({ spec: using, namespace: 'ops', status: { lastAccepted: before.body! } });
  const after = byName(plan([later, theirs], { tenancy: TENANCY }), 'checkout')!;
  expect(after).toMatchObject({ accepted: false, reason: 'NotAllowed', served: { from: 'lastAccepted' } });
  expect(after.served!.hash).toBe(before.served!.hash);
  expect(after.served!.text).not.toContain('evil');
});

test('an agent that may not have its name any more is not served as it was accepted before', () => {
  const status = { lastAccepted: { name: 'restarter', model: 'demo/any', soul: 'Be brief.' } };
  const object = objectOf({ kind: 'Agent', name: 'restarter', namespace: 'shop', status });
  expect(plan([object], { tenancy: TENANCY })[0]).toMatchObject({
    accepted: false,
    reason: 'NotAllowed',
    served: null,
    lostName: true,
  });
  const free = { tenancy: { ...TENANCY, namespaces: { shop: {} } } };
  expect(plan([object], free)[0]).toMatchObject({ accepted: true, lostName: false });
});

test.each([
  ['breaks its spec', 'restarter', { model: 'demo/any' }],
  ['breaks its spec under an allowed name', 'shop-restarter', { model: 'demo/any' }],
])('an agent whose author %s keeps no name that it may not have any more', (_, name, spec) => {
  const status = { lastAccepted: { name: 'restarter', model: 'demo/any', soul: 'Be brief.' } };
  const object = objectOf({ kind: 'Agent', name, namespace: 'shop', spec: { ...spec, tools: 'all' }, status });
  expect(plan([object], { tenancy: TENANCY })[0]).toMatchObject({ accepted: false, served: null, lostName: true });
  const free = { tenancy: { ...TENANCY, namespaces: { shop: {} } } };
  expect(plan([object], free)[0]).toMatchObject({ served: { name: 'restarter' }, lostName: false });
});

test('an agent whose namespace lost the right to a key of its pods is not served as it was accepted last', () => {
  const spec = { model: 'demo/any', soul: 'x', runtime: { nodeSelector: { disk: 'ssd' } } };
  const served = (pod_fields: 'nodeSelector'[], status = {}) => {
    const tenancy = { open: false, library: [], home: 'ops', namespaces: { shop: { pod_fields } } };
    return plan([objectOf({ kind: 'Agent', name: 'a', namespace: 'shop', spec, status })], { tenancy })[0]!;
  };
  const before = served(['nodeSelector']);
  expect(before).toMatchObject({ accepted: true, served: { from: 'spec' } });
  const status = { lastAccepted: before.body! };
  expect(served([], status)).toMatchObject({ accepted: false, reason: 'NotAllowed', served: null, lostName: true });
  const harmless = { lastAccepted: { name: 'a', model: 'demo/any', soul: 'x' } };
  expect(served([], harmless)).toMatchObject({ accepted: false, served: { from: 'lastAccepted' }, lostName: false });
});

test('an object without room for its spec is served as it was accepted last, and says where that has no room either', () => {
  const crowded = withoutSpec(objectOf({ status: { lastAccepted: accepted } }));
  const [verdict] = plan([crowded], undefined);
  expect(verdict).toMatchObject({ reason: 'TooLarge', served: { name: 'checkout', from: 'lastAccepted' } });
  expect(verdict?.message).toMatch(/has no room: .* The last accepted definition is served meanwhile\.$/);
  const [bare] = plan([withoutAccepted(crowded)], undefined);
  expect(bare).toMatchObject({ reason: 'TooLarge', served: null, lostName: false });
  expect(bare?.message).toContain('The last accepted definition has no room either');
});

test('an agent without room for its spec keeps no key of its pods that its namespace may not set any more', () => {
  const status = {
    lastAccepted: { name: 'a', model: 'demo/any', soul: 'x', runtime: { nodeSelector: { disk: 'ssd' } } },
  };
  const crowded = withoutSpec(objectOf({ kind: 'Agent', name: 'a', namespace: 'shop', status }));
  const tenancy = { open: false, library: [], home: 'ops', namespaces: { shop: {} } };
  expect(plan([crowded], { tenancy })[0]).toMatchObject({ served: null, lostName: true });
});

test.each([
  ['a key of its pods', { name: 'a', runtime: { nodeSelector: { disk: 'ssd' } } }, { agents: ['a'] }],
  ['a key of its pods whose value is no longer valid', { name: 'a', runtime: { nodeSelector: 1 } }, { agents: ['a'] }],
  ['its name', { name: 'a' }, { agents: ['b'] }],
  ['the name that it had when it was accepted', { name: 'b' }, { agents: ['a'] }],
])('an agent of which nothing has room goes once its namespace lost the right to %s', (_, body, lost) => {
  const status = { lastAccepted: { model: 'demo/any', soul: 'x', ...body } };
  const object = objectOf({ kind: 'Agent', name: 'a', namespace: 'shop', status });
  const judged = (tenant: object) => {
    const tenancy = { open: false, library: [], home: 'ops', namespaces: { shop: tenant } };
    return plan([withoutAccepted(withoutSpec(object))], { tenancy })[0];
  };
  expect(judged(lost)).toMatchObject({ served: null, lostName: true });
  expect(judged({ agents: ['a', 'b'], pod_fields: ['nodeSelector'] })).toMatchObject({
    served: null,
    lostName: false,
  });
});

test.each([
  ['may define any agent', { agents: ['*'], pod_fields: PodFields.keyof().options }, false],
  ['may define some agents', { agents: ['a*'], pod_fields: PodFields.keyof().options }, true],
  ['may set some keys of pods', { pod_fields: ['nodeSelector'] }, true],
])(
  'an agent of which nothing has room, and whose status does not say its needs, is judged strictly: its namespace %s',
  (_, tenant, lostName) => {
    const { lastAccepted } = objectOf({ status: { lastAccepted: { name: 'a', model: 'demo/any', soul: 'x' } } }).status;
    const status = { lastAccepted: { hash: lastAccepted!.hash, gzip: lastAccepted!.gzip } };
    const bare = withoutAccepted(withoutSpec(objectOf({ kind: 'Agent', name: 'a', namespace: 'shop', status })));
    const tenancy = { open: false, library: [], home: 'ops', namespaces: { shop: tenant } } as TenancyRules;
    expect(plan([bare], { tenancy })[0]).toMatchObject({ served: null, lostName });
    expect(plan([bare], undefined)[0]).toMatchObject({ served: null, lostName: false });
  },
);

test('an object that was edited while older ones filled its namespace is accepted with the first list after these are gone', () => {
  const { scopes, objects } = createWorld({ kinds: ['Pipeline'], namespaces: [], home: 'ops', times: 1, now: () => 0 });
  const { store } = scopes[0]!;
  const memo = createResolveMemo();
  const judge = () => byName(plan(objects()!, undefined, memo), 'checkout');
  const older = Array.from({ length: 5 }, (_, at) =>
    objectOf({ name: `older-${at}`, createdAt: '2025-01-01T00:00:00Z', specSize: 2 * 1024 * 1024 }),
  );
  const edited = (resourceVersion: string) => objectOf({ generation: 2, resourceVersion, specSize: 1024 });
  store.replace([...older, edited('7')]);
  expect(judge()).toMatchObject({ accepted: false, reason: 'TooLarge' });
  store.remove(older[0]!.uid);
  store.remove(older[1]!.uid);
  store.replace([...older.slice(2), edited('7')]);
  expect(judge()).toMatchObject({ accepted: true, served: { from: 'spec' } });
});

test.each(['Pipeline', 'LibraryStep', 'Agent'] as const)(
  'a %s that had no room, and whose definition was not kept meanwhile, is accepted once there is room for it',
  (kind) => {
    const memo = createResolveMemo();
    const object = objectOf({ kind, name: 'a', ...(kind === 'LibraryStep' && { status: { lastAccepted: STEP } }) });
    const isKept = () => memo.find(`spec ${kind} default/a`, () => true) !== undefined;
    const judge = (one: typeof object) => plan([one], undefined, memo)[0];
    expect(judge(withoutSpec(object))).toMatchObject({ accepted: false, reason: 'TooLarge' });
    expect(judge(objectOf(object))).toMatchObject({ accepted: true, served: { from: 'spec' } });
    expect(isKept()).toBe(true);
    for (let pass = 0; pass < 2; pass++) expect(judge(withoutSpec(object))).toMatchObject({ reason: 'TooLarge' });
    expect(isKept()).toBe(false);
    expect(judge(objectOf(object))).toMatchObject({ accepted: true, served: { from: 'spec' } });
  },
);

test('objects that somebody creates and deletes again leave nothing in memory', () => {
  const memo = createResolveMemo();
  const isKept = (name: string) =>
    ['spec', 'read Agent', 'check Agent'].map(
      (what) => memo.find(`${what} Agent default/${name}`, () => true) !== undefined,
    );
  for (const name of ['first', 'second', 'third'])
    plan([objectOf({ kind: 'Agent', name }), objectOf({ kind: 'Agent', name: 'stays' })], undefined, memo);
  expect(isKept('first')).toEqual([false, false, false]);
  expect(isKept('stays')).toEqual([true, true, true]);
});
