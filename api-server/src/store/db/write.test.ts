import { expect, test } from 'vitest';
import type { Tx } from './database.ts';
import { perform, toStatement, toWrite } from './write.ts';

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

test('a statement does not wait for the answers of those before it, and what depends on an answer is waited for', async () => {
  const done: string[] = [];
  const answers = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const writes = [toStatement, toWrite, toStatement].map((to, n) =>
    to(() => {
      done.push(`sent ${n}`);
      return answers[n]?.promise;
    }),
  );
  const performed = perform({} as Tx, writes);
  expect(done).toEqual(['sent 0', 'sent 1']);
  for (const { resolve } of answers) resolve();
  await performed;
  expect(done).toEqual(['sent 0', 'sent 1', 'sent 2']);
});

test('the first error of statements that were sent together is that of all', async () => {
  const failing = (word: string) => toStatement(() => Promise.reject(new Error(word)));
  await expect(perform({} as Tx, [failing('refused'), failing('the transaction is aborted')])).rejects.toThrow(
    'refused',
  );
});
