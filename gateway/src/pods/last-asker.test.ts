import { expect, test } from 'vitest';
import { forLastAsker } from './last-asker.ts';

test('who asks last gets the answer, who asked before hears at once that somebody else did, later ones get it too', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const ask = forLastAsker(promise, 'asked again');
  const [first, second, third] = [ask(), ask(), ask()];
  expect(await Promise.all([first, second])).toEqual(['asked again', 'asked again']);
  resolve('yes');
  expect(await third).toBe('yes');
  expect(await ask()).toBe('yes');
});

test('so it is with a failure', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  const ask = forLastAsker(promise, 'asked again');
  const [first, second] = [ask(), ask()];
  reject(new Error('a bug'));
  await expect(second).rejects.toThrow('a bug');
  expect(await first).toBe('asked again');
});
