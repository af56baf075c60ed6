import { expect, test } from 'vitest';
import type { Tx } from './database.ts';
import { perform, toWrite } from './write.ts';

test('writes are performed in their order, and only those of the store', async () => {
  const done: string[] = [];
  const slow = toWrite(() => Promise.resolve().then(() => done.push('first')));
  const quick = toWrite(() => done.push('second'));
  await perform({} as Tx, [slow, quick]);
  expect(done).toEqual(['first', 'second']);
  expect(() => perform({} as Tx, [{ madeBy: 'store' }])).toThrow('the store did not make this write');
});

test('writes that the database answers at once are done at once', () => {
  const done: string[] = [];
  expect(perform({} as Tx, [toWrite(() => done.push('first')), toWrite(() => done.push('second'))])).toBeUndefined();
  expect(done).toEqual(['first', 'second']);
});
