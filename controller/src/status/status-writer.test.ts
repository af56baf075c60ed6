import { expect, test } from 'vitest';
import { objectOf } from '../testing/objects.ts';
import { A_SECOND, AT_ONCE, createStatusWriter, type Wanted, type WriterDeps } from './status-writer.ts';

const wantedOf = (name: string): Wanted => ({
  object: objectOf({ name }),
  status: { conditions: [], replicas: [], contentHash: 'new' },
});

const writerOf = (deps: Partial<WriterDeps>) =>
  createStatusWriter({
    write: () => Promise.resolve('done'),
    record: () => Promise.resolve(),
    mayWrite: () => true,
    now: () => 0,
    wait: () => Promise.reject(new Error('nothing has to wait')),
    random: () => 0.5,
    ...deps,
  });

test('an object whose status is refused waits longer every time, and the others do not wait for it', async () => {
  let now = 0;
  const written: string[] = [];
  const writer = writerOf({
    write: async ({ name }) => {
      written.push(name);
      return name === 'bad' ? 'refused' : 'done';
    },
    now: () => now,
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
  const writer = writerOf({ write: () => Promise.reject(new Error('must not be called')) });
  const object = objectOf({ status: { contentHash: 'same' } });
  expect(await writer.write([{ object, status: { ...object.status } }])).toBeNull();
});

test('one slow write holds up nobody else, and only so many are under way', async () => {
  const slow = Promise.withResolvers<void>();
  const written: string[] = [];
  let underWay = 0;
  let most = 0;
  const writer = writerOf({
    write: async ({ name }) => {
      most = Math.max(most, ++underWay);
      await (name === 'p0' ? slow.promise : Promise.resolve());
      underWay--;
      written.push(name);
      if (written.length === 59) slow.resolve();
      return 'done';
    },
  });
  await writer.write(wantedOfMany(60));
  expect([written.length, written.at(-1), most]).toEqual([60, 'p0', AT_ONCE]);
});

const wantedOfMany = (count: number) => Array.from({ length: count }, (_, index) => wantedOf(`p${index}`));

test('an API server that is down is not asked for every object, and less and less often', async () => {
  let now = 0;
  let asked = 0;
  let isDown = true;
  const writer = writerOf({
    write: async () => {
      asked++;
      return isDown ? 'unavailable' : 'done';
    },
    now: () => now,
  });
  const all = wantedOfMany(200);
  const pauses: number[] = [];
  for (let round = 0; round < 4; round++) {
    const next = await writer.write(all);
    pauses.push((next ?? 0) - now);
    now = next ?? now;
  }
  expect(asked).toBeLessThan(4 * (AT_ONCE + 5));
  expect(pauses).toEqual([200, 400, 800, 1600]);
  isDown = false;
  now += 30_000;
  expect(await writer.write(all)).toBeNull();
  expect(asked).toBeGreaterThan(200);
});

test('one object that the API server cannot store does not end the round', async () => {
  const written: string[] = [];
  const writer = writerOf({
    write: async ({ name }) => {
      if (name === 'p0') return 'unavailable';
      written.push(name);
      return 'done';
    },
  });
  await writer.write(wantedOfMany(100));
  expect(written.length).toBe(99);
});

test('once another leads nothing more is written', async () => {
  let written = 0;
  const writer = writerOf({
    write: async () => {
      written++;
      return 'done';
    },
    mayWrite: () => written < 30,
  });
  await writer.write(wantedOfMany(100));
  expect(written).toBeLessThan(30 + AT_ONCE);
});

test('writes are spread over seconds', async () => {
  let now = 5000;
  const at: number[] = [];
  const writer = writerOf({
    write: async () => {
      at.push(now);
      return 'done';
    },
    now: () => now,
    wait: async (ms) => {
      const then = now + ms;
      await Promise.resolve();
      now = Math.max(now, then);
    },
  });
  await writer.write(wantedOfMany(2.5 * A_SECOND));
  const seconds = Object.values(Object.groupBy(at, (time) => Math.floor(time / 1000))).map((group) => group?.length);
  expect(seconds).toEqual([A_SECOND, A_SECOND, A_SECOND / 2]);
});
