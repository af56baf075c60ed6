import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { objectOf } from '../testing/objects.ts';
import { type CustomObject, sizeOf, toCustomObject, withStatus } from './custom-object.ts';
import { packBody } from './packed-body.ts';
import { withinRoom } from './spec-room.ts';
import { createWorld } from './world.ts';

const MIB = 1024 * 1024;
const ROOM = { home: 'ops', times: 1, elsewhere: new Map<string, number>() };

/** `age`: the higher, the older. */
const sized = (namespace: string, age: number, specSize = 2 * MIB): CustomObject =>
  objectOf({ namespace, name: `${namespace}-${age}`, createdAt: `2026-01-${30 - age}T00:00:00Z`, specSize });
const many = (namespace: string, count: number) => Array.from({ length: count }, (_, age) => sized(namespace, age));
const kept = (objects: readonly CustomObject[]) => objects.filter(({ crowded }) => !crowded).map(({ name }) => name);

test('of a namespace with too much the oldest objects are kept, in whatever order they come, and those of others all', () => {
  const objects = [...many('loud', 7), sized('quiet', 1), ...many('ops', 11)];
  const expected = ['loud-3', 'loud-4', 'loud-5', 'loud-6', 'quiet-1', ...many('ops', 11).map(({ name }) => name)];
  expect(kept(withinRoom(objects, ROOM))).toEqual(expected);
  expect(kept(withinRoom(objects.toReversed(), ROOM)).toReversed()).toEqual(expected);
  expect(kept(withinRoom(many('ops', 20), ROOM))).toHaveLength(12);
});

test('namespaces that together have too much share what there is, and one with little loses nothing', () => {
  const objects = [...many('a', 7), ...many('b', 7), ...many('c', 7), sized('quiet', 1)];
  const left = (options = ROOM) =>
    Object.entries(Object.groupBy(withinRoom(objects, options), (one) => one.namespace)).map(([namespace, of]) => [
      namespace,
      kept(of ?? []).length,
    ]);
  expect(left()).toEqual([
    ['a', 2],
    ['b', 2],
    ['c', 2],
    ['quiet', 1],
  ]);
  expect(left({ ...ROOM, times: 2 })).toEqual([
    ['a', 5],
    ['b', 5],
    ['c', 5],
    ['quiet', 1],
  ]);
  expect(
    left({
      ...ROOM,
      elsewhere: new Map([
        ['d', 8 * MIB],
        ['e', 8 * MIB],
      ]),
    })[0],
  ).toEqual(['a', 1]);
});

const METADATA = { name: 'a', namespace: 'shop', uid: 'c', generation: 1, resourceVersion: '7' };
const lastAccepted = { hash: 'h', gzip: 'x'.repeat(MIB) };
const read = (spec: object, status = {}) => toCustomObject('Agent', { metadata: METADATA, spec, status })!;

test('of an object without room only its name is left, also after its status was written', () => {
  const full = read({ name: 'helper', soul: 'ā'.repeat(300_000) }, { lastAccepted });
  const [left] = withinRoom([full], {
    ...ROOM,
    elsewhere: new Map(Array.from({ length: 16 }, (_, at) => [`n${at}`, MIB])),
  });
  expect(left).toMatchObject({ spec: { name: 'helper' }, tooLarge: true, crowded: true });
  expect(left?.status.lastAccepted).toEqual({ hash: 'h', gzip: '', leftOut: MIB });
  const next = withStatus(left!, left!.status, { metadata: { ...METADATA, resourceVersion: '8' } });
  expect(next).toMatchObject({ spec: { name: 'helper' }, crowded: true, specSize: left?.specSize });
  expect(sizeOf(left!)).toBe(sizeOf(full));
});

test('of an agent of which nothing has room its status says what its namespace needs rights for: no body is unpacked', () => {
  const soul = randomBytes(30_000).toString('base64');
  const lastAccepted = packBody({ name: 'packed', soul, runtime: { nodeSelector: {} } });
  const elsewhere = new Map(Array.from({ length: 1000 }, (_, at) => [`n${at}`, MIB]));
  const left = (written: object) => {
    const [object] = withinRoom([read({ soul }, { lastAccepted: { ...lastAccepted, ...written } })], {
      ...ROOM,
      elsewhere,
    });
    return object?.status.lastAccepted;
  };
  const said = { name: 'said', other: 1, runtime: { labels: 'x', mode: true } };
  expect(left({ needs: said })).toMatchObject({ gzip: '', needs: { name: 'said', runtime: { labels: true } } });
  expect(left({})).toEqual({ hash: lastAccepted.hash, gzip: '', leftOut: lastAccepted.gzip.length });
});

/** Of a definition that was accepted; `packed` characters of it are kept. */
const working = (age: number, specSize: number, packed = MIB / 2): CustomObject => ({
  ...sized('loud', age, specSize),
  status: { conditions: [], replicas: [], lastAccepted: { hash: 'h', gzip: 'x'.repeat(packed) } },
});
const served = (objects: readonly CustomObject[]) =>
  objects.filter(({ status }) => status.lastAccepted?.gzip).map(({ name }) => name);
const held = (objects: readonly CustomObject[]) =>
  objects.reduce((sum, { crowded, specSize, status }) => {
    return sum + (crowded ? 0 : specSize) + (status.lastAccepted?.gzip.length ?? 0);
  }, 0);

test('what was accepted of an object stays, whatever others of its namespace that were never accepted take', () => {
  const objects = [...many('loud', 9), working(0, MIB)];
  const left = withinRoom(objects, ROOM);
  expect(served(left)).toEqual(['loud-0']);
  expect(left.at(-1)).toBe(objects.at(-1));
  expect(kept(left)).toEqual(['loud-6', 'loud-7', 'loud-8', 'loud-0']);
});

test('of objects that were made large once they were accepted all keep what was accepted, and the oldest their specs', () => {
  const left = withinRoom(
    Array.from({ length: 10 }, (_, age) => working(age, 2 * MIB)),
    ROOM,
  );
  expect(served(left)).toHaveLength(10);
  expect(kept(left)).toEqual(['loud-9']);
  expect(held(left)).toBeLessThanOrEqual(8 * MIB);
});

test('what was accepted of the newest objects has no room only where that of all has none', () => {
  const objects = Array.from({ length: 20 }, (_, age) => working(age, 1024));
  const left = withinRoom(objects, ROOM);
  expect(served(left)).toEqual(objects.slice(4).map(({ name }) => name));
  expect(held(left)).toBeLessThanOrEqual(8 * MIB);
});

test.each([
  ['large specs', () => Array.from({ length: 10 }, (_, age) => working(age, 2 * MIB))],
  ['large accepted bodies', () => Array.from({ length: 20 }, (_, age) => working(age, 1024))],
  ['both and new objects', () => [...many('loud', 4), ...Array.from({ length: 12 }, (_, at) => working(10 + at, MIB))]],
])('objects with %s of which parts were left out count as before, and no more is left out', (_, make) => {
  const left = withinRoom(make(), ROOM);
  expect(withinRoom(left, ROOM)).toEqual(left);
  expect(withinRoom(left.toReversed(), ROOM)).toEqual(left.toReversed());
});

test.each([
  ['in one watch of all', []],
  ['each watched by itself', ['loud', 'quiet']],
])('an object has its spec again once there is room: namespaces %s', (_, namespaces) => {
  const world = createWorld({ kinds: ['Pipeline'], namespaces, home: 'ops', times: 1, now: () => 0 });
  const { store } = world.scopes[0]!;
  const loud = many('loud', 7);
  for (const scope of world.scopes) scope.store.replace([]);
  for (const object of loud) store.upsert(object);
  const { uid = '' } = store.objects().find((one) => one.crowded) ?? {};
  expect(kept(store.objects())).toHaveLength(4);
  expect(store.find(uid, '1')).toBeUndefined();
  for (const object of loud.slice(4)) store.remove(object.uid);
  store.replace(loud.slice(0, 4));
  expect(kept(store.objects())).toHaveLength(4);
});
