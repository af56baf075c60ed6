import { expect, test } from 'vitest';
import { objectOf } from '../testing/objects.ts';
import { withoutSpec } from './custom-object.ts';
import { createScopeStore } from './scope-store.ts';

const at = (name: string, resourceVersion: string) => objectOf({ name, resourceVersion });
const names = (store: ReturnType<typeof createScopeStore>) =>
  store
    .objects()
    .map(({ name }) => name)
    .toSorted();

test('a complete list takes away what it does not hold', () => {
  const store = createScopeStore(() => 0);
  expect(store.synced()).toBe(false);
  store.replace([at('a', '1'), at('b', '1')]);
  store.replace([at('b', '1')]);
  expect(names(store)).toEqual(['b']);
  expect(store.isGone('whatever')).toBe(true);
});

test('empty lists take nothing away until three of them came over a minute', () => {
  let now = 0;
  const store = createScopeStore(() => now);
  store.replace([at('a', '1')]);
  for (now of [1000, 22_000, 43_000]) {
    store.replace([]);
    expect(names(store)).toEqual(['a']);
    expect(store.isGone('uid-of-b')).toBe(false);
  }
  now = 64_000;
  store.replace([]);
  expect(names(store)).toEqual([]);
  expect(store.isGone('uid-of-b')).toBe(true);
});

test('a list with something in it between empty ones begins the count anew', () => {
  let now = 0;
  const store = createScopeStore(() => now);
  for (now of [0, 40_000]) store.replace([]);
  store.replace([at('a', '1')]);
  for (now of [61_000, 90_000]) store.replace([]);
  expect(names(store)).toEqual(['a']);
});

test('a deletion that was seen holds at once, even while lists are empty', () => {
  const store = createScopeStore(() => 0);
  store.replace([]);
  const object = at('a', '5');
  store.upsert(object);
  expect(store.remove(object.uid)).toBe(true);
  expect(store.isGone(object.uid)).toBe(true);
  expect(store.isGone('another')).toBe(false);
});

test('an empty list after the last object was seen deleted is believed', () => {
  const store = createScopeStore(() => 0);
  const object = at('a', '5');
  store.replace([object]);
  store.remove(object.uid);
  store.replace([]);
  expect(store.doubtful()).toBe(false);
});

test('events that come twice, late or after the deletion change nothing', () => {
  const store = createScopeStore(() => 0);
  store.replace([at('a', '10')]);
  expect(store.upsert(at('a', '10'))).toBe(false);
  expect(store.upsert(at('a', '9'))).toBe(false);
  expect(store.upsert(at('a', '11'))).toBe(true);
  store.remove(at('a', '11').uid);
  expect(store.upsert(at('a', '12'))).toBe(false);
  expect(names(store)).toEqual([]);
});

test('an object that was replaced under its name takes the place of the one before', () => {
  const store = createScopeStore(() => 0);
  store.replace([at('a', '10')]);
  store.upsert({ ...at('a', '12'), uid: 'new' });
  expect(store.upsert({ ...at('a', '11') })).toBe(false);
  expect(store.objects().map(({ uid }) => uid)).toEqual(['new']);
});

test('an object that is known in this version is found, and no other', () => {
  const store = createScopeStore(() => 0);
  store.replace([at('a', '10')]);
  const [known] = store.objects();
  expect(store.find(at('a', '10').uid, '10')).toBe(known);
  expect(store.find(at('a', '10').uid, '9')).toBeUndefined();
  store.replace([at('a', '10')]);
  expect(store.objects()[0]).toBe(known);
});

test('a name that is given again belongs to the new object, whichever deletion comes late', () => {
  const store = createScopeStore(() => 0);
  store.replace([at('a', '10')]);
  store.upsert({ ...at('a', '12'), uid: 'new' });
  store.remove(at('a', '10').uid);
  expect(store.upsert({ ...at('a', '11'), uid: 'between' })).toBe(false);
  expect(store.objects().map(({ uid }) => uid)).toEqual(['new']);
});

test('an object of which a part was left out stays the same until its version changes', () => {
  const store = createScopeStore(
    () => 0,
    (objects) => objects.map(withoutSpec),
  );
  store.replace([at('a', '10')]);
  const [before] = store.objects();
  store.replace([at('a', '10')]);
  expect(store.objects()[0]).toBe(before);
  store.replace([at('a', '11')]);
  expect(store.objects()[0]).toMatchObject({ resourceVersion: '11', crowded: true });
});

test('specs that were left out and come again are left out again before many of them are kept', () => {
  let fits = 0;
  const store = createScopeStore(
    () => 0,
    (objects) => {
      fits += 1;
      return objects.map(withoutSpec);
    },
  );
  const large = (version: string) =>
    Array.from({ length: 8 }, (_, index) => ({ ...at(`a-${index}`, version), specSize: 1_000_000 }));
  store.replace(large('1'));
  for (const object of large('2')) store.upsert(object);
  expect(fits).toBe(5);
});
