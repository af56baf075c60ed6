import { expect, test } from 'vitest';
import { objectOf } from '../testing/objects.ts';
import { createStatusWriter, type Wanted } from './status-writer.ts';

const wantedOf = (name: string): Wanted => ({
  object: objectOf({ name }),
  status: { conditions: [], replicas: [], contentHash: 'new' },
});

test('an object whose status is refused waits longer every time, and the others do not wait for it', async () => {
  let now = 0;
  const written: string[] = [];
  const writer = createStatusWriter({
    write: async ({ name }) => {
      written.push(name);
      return name !== 'bad';
    },
    record: () => Promise.resolve(),
    now: () => now,
    random: () => 0.5,
  });
  const first = await writer.write([wantedOf('bad'), wantedOf('good')]);
  expect(written).toEqual(['bad', 'good']);
  expect(first).toBe(200);
  await writer.write([wantedOf('bad'), wantedOf('other')]);
  expect(written).toEqual(['bad', 'good', 'other']);
  now = 200;
  expect(await writer.write([wantedOf('bad')])).toBe(600);
  expect(await writer.write([])).toBeNull();
});

test('a status that is right already is not written', async () => {
  const writer = createStatusWriter({
    write: () => Promise.reject(new Error('must not be called')),
    record: () => Promise.resolve(),
    now: () => 0,
    random: () => 0,
  });
  const object = objectOf({ status: { contentHash: 'same' } });
  expect(await writer.write([{ object, status: { ...object.status } }])).toBeNull();
});

test('one slow write holds up nobody else, and no more than eight are under way', async () => {
  const slow = Promise.withResolvers<boolean>();
  const written: string[] = [];
  let underWay = 0;
  let most = 0;
  const writer = createStatusWriter({
    write: async ({ name }) => {
      most = Math.max(most, ++underWay);
      const ok = await (name === 'p0' ? slow.promise : Promise.resolve(true));
      underWay--;
      written.push(name);
      if (written.length === 29) slow.resolve(true);
      return ok;
    },
    record: () => Promise.resolve(),
    now: () => 0,
    random: () => 0,
  });
  await writer.write(Array.from({ length: 30 }, (_, index) => wantedOf(`p${index}`)));
  expect([written.length, written.at(-1), most]).toEqual([30, 'p0', 8]);
});
