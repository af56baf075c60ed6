import { expect, test } from 'vitest';
import { NOW } from '../fixtures/runs.ts';
import type { GatewayObjects, SyncedObject } from '../../../service/cluster/cluster.ts';
import { readSyncFilters } from './filters.ts';
import { syncView } from './view.ts';

const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason = type, message = `${reason} it is`) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-21T11:00:00Z',
});
const GOOD = ['Accepted', 'Synced', 'Ready'].map((type) => condition(type, 'True'));
const object = (given: Partial<SyncedObject> = {}): SyncedObject => ({
  kind: 'Pipeline',
  namespace: 'default',
  name: 'checkout',
  definition: 'checkout',
  hash: 'aaaaaaaaaaaa',
  conditions: GOOD,
  replicas: [{ pod: 'a', hash: 'aaaaaaaaaaaa' }],
  ...given,
});
const NONE: GatewayObjects = { kind: 'found', objects: null };
const view = (own: SyncedObject[] | null, gateway: GatewayObjects = NONE, query: Record<string, string> = {}) =>
  syncView({ own, gateway, filters: readSyncFilters(query), now: NOW });
const rowOf = (given: Partial<SyncedObject>) => view([object(given)]).groups[0]!.rows[0]!;

test.each([
  ['ready', GOOD, 'Ready'],
  ['refused', [condition('Accepted', 'False', 'Invalid'), condition('Ready', 'False', 'Invalid')], 'Not ready'],
  ['rolling out', [condition('Ready', 'False', 'OutOfDate')], 'On its way'],
  ['starting', [condition('Ready', 'False', 'Starting')], 'On its way'],
  ['not observed', [condition('Ready', 'Unknown', 'NotObserved')], 'Not known'],
  ['new', [], 'Not known'],
])('an object that is %s says so', (_name, conditions, word) => {
  expect(rowOf({ conditions }).state.word).toBe(word);
});

test('a reason is told once, with what it is about', () => {
  const why = 'spec.steps: must not be empty';
  const conditions = [condition('Accepted', 'False', 'Invalid', why), condition('Ready', 'False', 'Invalid', why)];
  const row = rowOf({ conditions });
  expect(row.troubles).toEqual([{ reason: 'Invalid', message: why, bad: true }]);
  expect(row.conditions.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Accepted Invalid', 'Ready Invalid']);
});

test('advice on the stage is no trouble', () => {
  const row = rowOf({ conditions: [...GOOD, condition('PromotionReady', 'False', 'NotReady')] });
  expect([row.state.word, row.troubles]).toEqual(['Ready', []]);
  expect(row.conditions.at(-1)).toMatchObject({ tone: 'quiet', reason: 'NotReady' });
});

test('each replica has its hash; the one that is behind comes first', () => {
  const replicas = [
    { pod: 'a', hash: 'aaaaaaaaaaaa' },
    { pod: 'b', hash: 'bbbbbbbbbbbb' },
    { pod: 'c', hash: null },
  ];
  const row = rowOf({ replicas });
  expect(row.replicas.rows.map(({ pod, hash, same }) => [pod, hash, same])).toEqual([
    ['b', 'bbbbbbbbbbbb', false],
    ['c', 'none', false],
    ['a', 'aaaaaaaaaaaa', true],
  ]);
  expect(row.replicas.counted).toBe('2 of 3 behind');
});

test('an object leads to its definition, by the name that the services know', () => {
  expect(rowOf({ name: 'checkout-1', definition: 'Checkout_1' })).toMatchObject({
    href: '/ui/pipelines/Checkout_1',
    alias: 'Checkout_1',
  });
  expect(rowOf({ kind: 'LibraryStep' }).href).toBe('/ui/steps/checkout');
  expect(rowOf({ kind: 'Agent' }).href).toBe('/ui/agents');
  expect(rowOf({ definition: null, hash: null }).href).toBeNull();
});

test('kinds stand together, and in each those that need someone come first', () => {
  const bad = [condition('Ready', 'False', 'Invalid')];
  const gateway: GatewayObjects = { kind: 'found', objects: [object({ kind: 'Agent', name: 'triage' })] };
  const { groups, summary } = view([object({ name: 'a' }), object({ name: 'z', conditions: bad })], gateway);
  expect(groups.map(({ title, rows }) => [title, rows.map(({ name }) => name)])).toEqual([
    ['Pipelines', ['z', 'a']],
    ['Agents', ['triage']],
  ]);
  expect(summary).toBe('3 objects, 1 not ready');
});

test('a search and a state narrow the list, and pages divide it', () => {
  const many = Array.from({ length: 250 }, (_, i) => object({ name: `p-${String(i).padStart(3, '0')}` }));
  const names = (query: Record<string, string>) =>
    view([...many, object({ name: 'odd', namespace: 'team-b', conditions: [] })], NONE, query).groups.flatMap(
      ({ rows }) => rows.map(({ name }) => name),
    );
  expect(names({ q: 'TEAM-B' })).toEqual(['odd']);
  expect(names({ state: 'trouble' })).toEqual(['odd']);
  expect([names({}).length, names({ page: '3' }).length]).toEqual([100, 51]);
  expect(view(many, NONE, { page: '2' })).toMatchObject({
    range: '101–200 of 250',
    before: '/ui/sync',
    after: '/ui/sync?page=3',
  });
});

test('without a controller nothing is said to be missing; with one, a silent gateway is', () => {
  expect(view(null)).toMatchObject({ managed: false, note: null });
  expect(view(null, { kind: 'unreachable', message: 'x' })).toMatchObject({ managed: false, note: null });
  expect(view([])).toMatchObject({ managed: true, groups: [], filtered: false });
  expect(view([], { kind: 'unreachable', message: 'Nothing listens.' }).note).toMatchObject({
    bad: true,
    text: 'Nothing listens.',
  });
  expect(view([], { kind: 'not_configured' }).note).toMatchObject({ bad: false });
});
